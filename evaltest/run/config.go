package run

import (
	"context"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// Defaults of a [Config].
const (
	DefaultAttempts       = 3
	DefaultAttemptTimeout = 2 * time.Minute
	DefaultItemTimeout    = 5 * time.Minute
	DefaultGrace          = 10 * time.Second
)

// A Config says how items are run. Strategy and Grader are needed; the zero
// value of everything else is a default. Do not change or copy it after the
// first call of Item.
type Config struct {
	Strategy Strategy
	// Grader is the deterministic grader.
	Grader grade.Grader
	// Judge is asked when the grader found nothing to compare after the last
	// attempt; nil for no judge.
	Judge grade.Grader
	// JudgeIncorrect also asks the judge about answers graded incorrect.
	JudgeIncorrect bool
	// Attempts is the most attempts an item gets; default [DefaultAttempts].
	Attempts int
	// AttemptTimeout bounds one call of the strategy, or of the judge;
	// default [DefaultAttemptTimeout], negative for none.
	AttemptTimeout time.Duration
	// ItemTimeout bounds the whole item, waiting between attempts included;
	// default [DefaultItemTimeout], negative for none.
	ItemTimeout time.Duration
	// Grace is how long after the item's end (timeout or cancelled context) a
	// strategy that ignores its context is waited for; default [DefaultGrace],
	// negative for none.
	Grace time.Duration
	// Price returns the exact cost of one call, such as "0.000123"; false if
	// unknown. nil: only what providers report is known.
	Price func(llm.Response) (usd string, ok bool)
}

// Check reports a Config that cannot be used, naming the field and the value.
func (c *Config) Check() error { return nil }

// Item runs one sample of an item to its end and returns its record, always
// exactly one, whatever strategy, grader and judge do. It never panics.
func (c *Config) Item(ctx context.Context, item dataset.Item, sample int) result.Record {
	return result.Record{Item: result.ItemOf(item), Sample: sample, Outcome: result.NotRun}
}

// NotRun returns the record of an item that was never started, and why.
func NotRun(item dataset.Item, sample int, why string) result.Record {
	return result.Record{
		Item: result.ItemOf(item), Sample: sample, Outcome: result.NotRun,
		Error: &result.Error{Kind: llm.KindCanceled, Message: why},
	}
}

// Abandoned returns how many items' goroutines were left running in this
// process and have not ended since.
func Abandoned() int { return 0 }
