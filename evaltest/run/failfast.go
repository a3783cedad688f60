package run

import "github.com/goevals/evals/evaltest/result"

// A FailFast tells from records, as they come, that the run cannot reach its
// model. The zero value works. Safe for concurrent use.
type FailFast struct{}

// Observe takes note of a record. It returns nil to go on, else why the run
// should stop; once it has returned an error it returns that error for good.
func (f *FailFast) Observe(rec *result.Record) error { return nil }
