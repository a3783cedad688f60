package metric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/report"
)

const (
	defaultFailures = 100
	examplesOf      = 3   // a class
	exampleBytes    = 300 // of each
	finishesKept    = 32  // distinct words; a hostile server may invent one a request
)

// An ErrorClass is how often requests failed in one way.
type ErrorClass struct {
	Class  record.Class `json:"class"`
	Count  int64        `json:"count"`
	Status map[int]int  `json:"by_status,omitempty"` // HTTP status, 0 if none
	// Examples are the first few different messages, escaped for a terminal
	// and shortened.
	Examples []string `json:"examples,omitempty"`
}

// A Word is how often a server said something, escaped.
type Word struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// A FailedRequest is a request that failed in the end. Message is escaped.
type FailedRequest struct {
	Agent      int // of a session's job; -1 if no job said
	User       int
	Trajectory string
	Turn       int
	Seq        int
	Message    string
}

// failures counts by class.
type failures map[record.Class]*ErrorClass

func (f failures) add(class record.Class, status int, message string) {
	class = record.Class(report.Escape(string(class), 40))
	if _, ok := f[class]; !ok && len(f) >= finishesKept {
		class = "other"
	}
	e := f[class]
	if e == nil {
		e = &ErrorClass{Class: class, Status: map[int]int{}}
		f[class] = e
	}
	e.Count++
	if _, ok := e.Status[status]; ok || len(e.Status) < finishesKept {
		e.Status[status]++
	}
	if len(e.Examples) < examplesOf {
		if text := report.Escape(message, exampleBytes); message != "" && !slices.Contains(e.Examples, text) {
			e.Examples = append(e.Examples, text)
		}
	}
}

// list returns the classes, the most frequent first.
func (f failures) list() []ErrorClass {
	list := make([]ErrorClass, 0, len(f))
	for _, e := range f {
		c := *e
		c.Status, c.Examples = maps.Clone(e.Status), slices.Clone(e.Examples)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b ErrorClass) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return list
}

// words counts what servers say.
type words map[string]int64

func (w words) add(s string) {
	if n, ok := w[s]; ok { // nearly always; a key is safe as it is
		w[s] = n + 1
		return
	}
	s = report.Escape(s, 60)
	if _, ok := w[s]; !ok && len(w) >= finishesKept {
		s = "(others)"
	}
	w[s]++
}

func (w words) list() []Word {
	list := make([]Word, 0, len(w))
	for text, n := range w {
		list = append(list, Word{text, n})
	}
	slices.SortFunc(list, func(a, b Word) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return list
}
