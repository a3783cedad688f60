package llmtest

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// An Ending is how an answer ends before its end.
type Ending string

// The endings. After the last but EndError the caller does not learn that
// something is missing until it looks at the answer.
const (
	EndReset Ending = "reset" // the connection breaks
	EndHang  Ending = "hang"  // nothing comes any more, until the caller gives up
	EndError Ending = "error" // an error object follows, in the 200 that has gone out
	EndCut   Ending = "cut"   // the body ends as if all were well
)

// end does what is left to do once the part of the answer is out.
func (e Ending) end(r *http.Request) {
	switch e {
	case EndReset:
		panic(http.ErrAbortHandler)
	case EndHang:
		<-r.Context().Done()
	}
}

// A UsageForm is a way to tell usage that the API does not have.
type UsageForm string

// The forms.
const (
	UsageMissing UsageForm = "missing" // not at all
	UsageFloats  UsageForm = "floats"  // 12.0
	UsageStrings UsageForm = "strings" // "12"
)

// Damage is what happens to an answer on its way. The zero value is none.
type Damage struct {
	// Then ends the answer after After tokens, thoughts included; of an answer
	// that is not streamed, half of the body goes out.
	Then  Ending
	After int
	// Bills says that an answer that Then ended, or its caller, is billed: the
	// prompt and the tokens that went out. Only Gemini's streams have told it
	// by then, and are billed in any case.
	Bills bool
	// NoFinish leaves the finish reason out, NoDone OpenAI's [DONE], Empty all
	// choices (candidates).
	NoFinish, NoDone, Empty bool
	// Usage spoils the usage object.
	Usage UsageForm
	// Comments is how many keep-alive comments come in a row before the first
	// token; one then comes before each other. OpenAI's streams only: Gemini
	// has none.
	Comments int
	// Pad makes the first event, or the body, longer by this many bytes.
	Pad int
	// Piece cuts what is sent into writes of this many bytes, characters too,
	// with a wait of Drip before each. 0 sends an event at once.
	Piece int
	Drip  time.Duration
	// Linger is how long a stream's body stays open after its last event.
	Linger time.Duration
}

// isSet reports whether there is any damage.
func (d Damage) isSet() bool { return d != Damage{} }

// pad adds a field of filler, as OpenAI does to hide lengths.
func (d *Damage) pad(object []byte) []byte {
	if d.Pad <= 0 || len(object) < 2 || object[0] != '{' {
		return object
	}
	var b bytes.Buffer
	b.Grow(len(object) + d.Pad + 32)
	b.WriteString(`{"obfuscation":"`)
	b.Write(bytes.Repeat([]byte{'x'}, d.Pad))
	b.WriteByte('"')
	if object[1] != '}' {
		b.WriteByte(',')
	}
	b.Write(object[1:])
	return b.Bytes()
}

// drip sends b, and reports whether all of it has gone out: a caller that goes
// after that has got it.
func (d *Damage) drip(w http.ResponseWriter, r *http.Request, b []byte) bool {
	if d.Piece <= 0 {
		return here(r) && put(w, b)
	}
	for len(b) > 0 {
		n := min(d.Piece, len(b))
		if !pause(r, d.Drip) || !put(w, b[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}

// send writes the body of an answer that is not streamed.
func (d *Damage) send(w http.ResponseWriter, r *http.Request, a *scripted, body []byte) bool {
	half := body[:len(body)/2]
	a.sent = len(a.thoughts) + len(a.tokens) // all were generated
	a.over = d.Then != EndHang
	switch d.Then {
	case EndError:
		_, v := a.failure(failed)
		sendJSON(w, a.chat.API, http.StatusOK, v)
		return false
	case EndCut:
		_, _ = w.Write(half) // what happens to it, the caller sees
		return false
	case EndReset, EndHang:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		put(w, half) // as above
		d.Then.end(r)
		return false
	}
	if d.Piece > 0 {
		return d.drip(w, r, body)
	}
	_, err := w.Write(body)
	return err == nil
}
