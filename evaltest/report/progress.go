package report

import (
	"fmt"
	"time"

	"github.com/goevals/evals/grade/stat"
)

// Progress is the line that a running eval shows: how many of total answers
// are done, how many of those are correct or errored, and the time left. It
// has no newline and at most width columns, for which it leaves out what
// matters least. A total of 0 and an eta of 0 or less are unknown; a width of
// 0 or less is no limit.
func Progress(done, total, correct, errored int, eta time.Duration, width int) string {
	line := fmt.Sprint(done)
	if total > 0 {
		line = fmt.Sprintf("%d/%d", done, total)
	}
	parts := []string{fmt.Sprintf(", %d correct", correct)}
	if done > 0 && correct >= 0 && correct <= done {
		parts[0] += fmt.Sprintf(" (%s)", stat.Percent(correct, done))
	}
	if errored > 0 {
		parts = append(parts, fmt.Sprintf(", %d errored", errored))
	}
	if eta > 0 {
		parts = append(parts, ", "+duration(max(eta.Round(time.Second), time.Second))+" left")
	}
	for _, p := range parts {
		if width > 0 && len(line)+len(p) > width {
			break
		}
		line += p
	}
	if width > 0 && len(line) > width {
		return line[:width]
	}
	return line
}
