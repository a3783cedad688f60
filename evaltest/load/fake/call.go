package fake

import (
	"net/http"
	"time"
)

// A call is one request and what is to be done about it. It owns its memory: the
// next request may be read while it is answered.
type call struct {
	what  target
	path  string
	order order
	n     int // -1 for no call of a model

	input, cached int
	// end is the chain of the prompt's blocks, which the answer goes on with.
	endHash   uint64
	endTokens int

	problem *problem
	fail    Failure
	waiter  *waiter // nil: it has its slot, or needs none
	slot    bool    // it has to give one back, or to leave the queue

	http10, last bool // no chunks; the connection ends with it
	bare         bool // HEAD: an answer without its body
	arrived      time.Time

	began        time.Time
	status       int
	output       int // tokens written
	due, written []time.Time
	canceled     bool

	header http.Header // for Saw
	body   []byte

	gone chan struct{} // closed when the client has gone; nil if nobody looks
	done chan struct{} // closed when the answer has been written
}

// A target is what a path stands for.
type target int

const (
	nothing target = iota
	chat
	completions
	models
)

// targets are the paths there are.
func targetOf(path []byte) (target, string) {
	switch string(path) {
	case "/v1/chat/completions":
		return chat, "/v1/chat/completions"
	case "/v1/completions":
		return completions, "/v1/completions"
	case "/v1/models":
		return models, "/v1/models"
	}
	return nothing, string(path)
}

// An order is what a body asks for.
type order struct {
	model    []byte // as JSON; nil if there was none
	user     string // for Saw
	messages int
	tokens   int  // of the answer
	limited  bool // the request said so
	stream   bool
	usage    bool // at the end of a stream
}
