package llmtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// A Fault is one way in which a provider fails, or is odd, with the bodies
// that each API has for it. Take one of [Faults] by its name, or make your own.
// A server that meets it does what Answer says; else it answers the call as it
// would have, changed by Edit, and does Damage to what it sends.
type Fault struct {
	// Name is how Counts counts it.
	Name string
	// Reason says in a few words what happens.
	Reason string
	// Kind is what a client should take it for; "" if the answer is whole and
	// the client should not mind.
	Kind llm.ErrorKind
	// API is the one API that has it; "" for every one.
	API API
	// Streamed says that only streams have it, Whole that only answers that are
	// not streamed have it. It does not touch the other calls.
	Streamed, Whole bool
	// Answer answers instead of the server.
	Answer func(w http.ResponseWriter, r *http.Request, c Chat)
	// Edit changes the server's reply.
	Edit func(c Chat, r Reply) Reply
	// Damage is done to it on its way.
	Damage Damage

	storm  time.Duration // since the first call, when a storm is over
	atOnce bool          // Answer flushes, and has nothing to wait for
}

// fits reports whether a call can meet the fault.
func (f Fault) fits(c Chat) bool {
	return (f.API == "" || f.API == c.API) && (!f.Streamed || c.Stream) && (!f.Whole || !c.Stream)
}

// answers reports whether the fault answers instead of the server.
func (f *Fault) answers() bool { return f != nil && (f.Answer != nil || f.storm > 0) }

// Faults are all faults that this package knows, in the order of their names'
// constants. The slice is the caller's.
func Faults() []Fault { return slices.Clone(faults) }

// Named are the faults with these names, for use in a [Rule]. It panics if one
// is not known, and lists those that are.
func Named(names ...string) []Fault {
	var out []Fault
	for _, name := range names {
		i := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("llmtest.Named: no fault is called %q; there are %s", name, strings.Join(faultNames(), ", ")))
		}
		out = append(out, faults[i])
	}
	return out
}

func faultNames() []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Name)
	}
	return out
}

// Busy is a rate limit that asks to wait so long: in headers, as OpenAI does,
// or in the body, as Gemini does.
func Busy(wait time.Duration) Fault {
	return saying("busy", llm.KindRateLimit, "too fast, and how long to wait", busy(wait))
}

// saying is a fault that answers with an error.
func saying(name string, kind llm.ErrorKind, reason string, p problem) Fault {
	return Fault{Name: name, Kind: kind, Reason: reason, Answer: func(w http.ResponseWriter, _ *http.Request, c Chat) {
		p.write(w, c.API)
	}}
}
