package llmtest

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Status answers with this status and JSON body. Further arguments are names
// and values of headers, in turn: Status(429, body, "Retry-After", "2"). It
// panics on an odd number of them.
func Status(status int, body string, header ...string) http.HandlerFunc {
	if len(header)%2 != 0 {
		panic(fmt.Sprintf("llmtest.Status: the header %q has no value", header[len(header)-1]))
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// HTML answers with an HTML page, as gateways do.
func HTML(status int, page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprint(w, page)
	}
}

// Stream answers 200 with a stream of events and sends the pieces as they are,
// each on its own. A clean end follows the last one.
func Stream(pieces ...string) http.HandlerFunc { return SlowStream(0, pieces...) }

// SlowStream is [Stream] with a wait before each piece.
func SlowStream(wait time.Duration, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		put(w, nil) // the header
		for _, p := range pieces {
			if !pause(r, wait) || !put(w, []byte(p)) {
				return
			}
		}
	}
}

// Text is an event of a stream that adds text, for use with [Stream].
func Text(s string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quote(s))
}

// Finish is an event of a stream that gives a finish reason, for use with
// [Stream].
func Finish(reason string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%s}]}\n\n", quote(reason))
}

// GeminiText is [Text] for a stream of Gemini's.
func GeminiText(s string) string {
	return fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%s}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n", quote(s))
}

// GeminiFinish is [Finish] for a stream of Gemini's; nothing follows it.
func GeminiFinish(reason string) string {
	return fmt.Sprintf("data: {\"candidates\":[{\"finishReason\":%s,\"index\":0}]}\r\n\r\n", quote(reason))
}

// Done ends a stream, for use with [Stream].
const Done = "data: [DONE]\n\n"

func quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	return `"` + r.Replace(s) + `"`
}

// Hang never answers: it returns when the caller gives up.
func Hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Reset breaks the connection after these pieces of a stream; without any,
// before the answer.
func Reset(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if len(pieces) > 0 {
			Stream(pieces...)(w, r)
		}
		panic(http.ErrAbortHandler)
	}
}
