package workload_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/goevals/evals/evaltest/load/workload"
)

// A text for the example: a word is a token. Use evaltest/load/token instead.
type letters struct{}

func (l letters) Make(r *rand.Rand, n int) (string, error) {
	s, err := l.Continue(r, "", n)
	return strings.TrimSpace(s), err
}

func (letters) Continue(r *rand.Rand, _ string, n int) (string, error) {
	var b strings.Builder
	for range n {
		b.WriteByte(' ')
		b.WriteByte('a' + byte(r.IntN(26)))
	}
	return b.String(), nil
}

// Prompts of about 20 tokens, half of which all prompts begin with.
func Example() {
	input, err := workload.LogNormal(20, 0.4, 30)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("input:", input)
	w, err := workload.New(workload.Options{
		Text: letters{}, Seed: 42, Count: 3, Input: input,
		Output:  workload.Must(workload.Fixed(64, 16)),
		Overlap: workload.Overlap{Share: 0.5},
		Salt:    workload.Salt{Value: 1}, // another for each repeat; drawn by default
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for seq := 0; ; seq++ { // in any order, from any goroutine
		r, err := w.Request(seq)
		if errors.Is(err, workload.ErrEnd) {
			break
		} else if err != nil {
			fmt.Println(err) // this request cannot be made; go on
			continue
		}
		fmt.Printf("%d tokens, %d perhaps cached, answer of %d: %s\n", r.AskedInput, r.PossibleCached, r.Output.Max, r.Prompt)
	}
	// Output:
	// input: log-normal, mu 2.996, sigma 0.4, at most 30 (mean 20.48, median 20; 16.56 % at 30)
	// 16 tokens, 0 perhaps cached, answer of 66: k k k x p e y u p q k e y w i p
	// 17 tokens, 8 perhaps cached, answer of 69: k k k x p e y u b j r u d b d i s
	// 22 tokens, 8 perhaps cached, answer of 79: k k k x p e y u q q t p e k m h k k r k r l
}

// Flags that contradict each other are named.
func ExampleSettings() {
	tokens, sigma := 500, 0.9
	_, err := workload.Settings{Names: workload.FlagNames("output"), Fixed: &tokens, Sigma: &sigma}.Dist()
	fmt.Println(err)
	// Output: workload: --output-tokens cannot be combined with --output-lognorm-* (--output-lognorm-sigma)
}

// A file of requests.
func ExampleRead() {
	rows, err := workload.Read(strings.NewReader(`
{"text": "Name a river.", "input_tokens": 4}
{"body": {"model": "m", "messages": [{"role": "user", "content": "Name a lake."}]}}
`), "questions.jsonl", workload.RowsOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range rows.Len() {
		r, _ := rows.Request(i)
		fmt.Printf("%q, body %q\n", r.Prompt, r.Body)
	}
	// Output:
	// "Name a river.", body ""
	// "", body "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Name a lake.\"}]}"
}
