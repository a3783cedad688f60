package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goevals/evals/evaltest/batch"
)

// Answer questions four at once and put the answers in order again. One of the
// questions makes its function panic; the others do not notice.
func Example() {
	questions := []string{"2+3", "10-4", "", "7*6"}
	answer := func(_ context.Context, q string) (int, error) {
		var a, b int
		var op rune
		if _, err := fmt.Sscanf(q, "%d%c%d", &a, &op, &b); err != nil {
			panic("not a question")
		}
		return map[rune]int{'+': a + b, '-': a - b, '*': a * b}[op], nil
	}
	lines := make([]string, len(questions))
	for r := range batch.Run(context.Background(), slices.Values(questions), answer, batch.Options{Parallel: 4}) {
		var p *batch.PanicError
		switch {
		case errors.As(r.Err, &p):
			lines[r.Index] = fmt.Sprintf("%q: panic: %v", r.In, p.Value)
		default:
			lines[r.Index] = fmt.Sprintf("%q: %d", r.In, r.Out)
		}
	}
	fmt.Println(strings.Join(lines, "\n"))
	// Output:
	// "2+3": 5
	// "10-4": 6
	// "": panic: not a question
	// "7*6": 42
}
