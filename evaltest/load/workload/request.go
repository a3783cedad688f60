package workload

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/goevals/evals/llm"
)

// A Request is what one call sends: a Prompt, Messages or a Body.
type Request struct {
	// Seq is its number in the run, from 0.
	Seq int
	// Prompt is the text, and with Messages the text that is not in them is
	// "". A chat API gets it as one message of the user, see [Request.Chat].
	Prompt string
	// Messages are the conversation, where it is more than one message.
	Messages []llm.Message
	// Body is a whole request in JSON, to be sent as it is. The others are
	// empty then. Do not modify it.
	Body json.RawMessage
	// AskedInput is the length of the text in tokens; 0 if that is not known.
	AskedInput int
	// Output is how long the answer is to be; the zero value if that is left
	// to the server.
	Output Output
	// Group is the shared prefix that the prompt begins with, from 0; -1 if
	// there are no groups.
	Group int
	// Shared is how many tokens at the beginning are from a text that other
	// prompts begin with, too.
	Shared int
	// PossibleCached is how many tokens at the beginning a prefix cache of
	// endless size could hold, if the requests with smaller numbers, and none
	// before this run, were answered before; rounded down to whole blocks.
	//
	// It counts what was made to be equal. Texts may be equal beyond it by
	// chance, or because a Text begins all of them with one word, as
	// token.Words does; and a chat template adds tokens that are always equal.
	// So what a server reports may be a little more.
	PossibleCached int
	// Entry is the row that it is made of, from 0; -1 if it is of no file.
	Entry int
}

// Output is a range of lengths of an answer in tokens, ends included. A server
// that ends where the model wants needs both ends to answer with an exact
// length.
type Output struct {
	Min, Max int
}

// Chat returns the conversation: Messages, or Prompt as one message of the
// user; nil if there is neither.
func (r *Request) Chat() []llm.Message {
	if r.Messages == nil && r.Prompt != "" {
		return []llm.Message{{Role: llm.RoleUser, Content: r.Prompt}}
	}
	return r.Messages
}

// A Source makes requests by number. Implementations are safe for concurrent
// use, and the same number gives the same request, whatever was asked for
// before.
type Source interface {
	// Request returns the request with this number, from 0. The error is a
	// *BuildError; the Request has its number and lengths all the same, as far
	// as they are known. It panics if seq is negative.
	Request(seq int) (Request, error)
	// Len is how many there are; 0 if they do not end.
	Len() int
}

var (
	_ Source = (*Workload)(nil)
	_ Source = (*Rows)(nil)
)

// A Text makes text of an exact number of tokens: evaltest/load/token has it,
// as token.Words and token.Random. It draws from r only, so that a seed gives
// the same text, and is safe for concurrent use as long as each goroutine has
// its own r.
type Text interface {
	// Make returns text of n tokens. n is at least 1.
	Make(r *rand.Rand, n int) (string, error)
	// Continue returns text that adds n tokens to prefix, when it is put right
	// behind it. n is at least 1, and prefix is not empty.
	Continue(r *rand.Rand, prefix string, n int) (string, error)
}

// extend returns text with n tokens more.
func extend(t Text, r *rand.Rand, text string, n int) (string, error) {
	switch {
	case n == 0:
		return text, nil
	case text == "":
		return t.Make(r, n)
	}
	more, err := t.Continue(r, text, n)
	if err != nil {
		return "", err
	}
	return text + more, nil
}

func systemAndUser(system, user string) []llm.Message {
	return []llm.Message{{Role: llm.RoleSystem, Content: system}, {Role: llm.RoleUser, Content: user}}
}

// Entry is which request of a source the user-th of so many users sends as its
// request-th, all counted from 0, so that all users' first requests come before
// all second ones: request·users + user. It panics if user is not below users,
// or a number is negative, or the result is no int.
func Entry(users, user, request int) int {
	if user < 0 || user >= users || request < 0 {
		panic(fmt.Sprintf("workload: Entry(users %d, user %d, request %d): want 0 ≤ user < users and request ≥ 0", users, user, request))
	}
	n := request*users + user
	if n < 0 || (n-user)/users != request {
		panic(fmt.Sprintf("workload: Entry(users %d, user %d, request %d): too large", users, user, request))
	}
	return n
}
