package token_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/goevals/evals/evaltest/load/token"
)

func Example() {
	// Text of 8 tokens for any modern model, and 4 more behind it.
	r := rand.New(rand.NewPCG(1, 2))
	prompt, _ := token.Words{}.Make(r, 8)
	more, _ := token.Words{}.Continue(r, prompt, 4)
	fmt.Printf("%q + %q\n", prompt, more)

	// The same by one tokenizer: counted, and made from its whole vocabulary.
	t, err := token.Load(context.Background(), "gpt-5", token.Hub{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Name(), token.Count(t, prompt), token.Count(t, prompt+more))
	text, err := token.Exact(context.Background(), t, r, 1000)
	fmt.Println(token.Count(t, text), err)
	// Output:
	// "the scattering pairing separation shore depart apex licence" + " informal cat confess preceded"
	// o200k_base 8 12
	// 1000 <nil>
}
