package evaltest_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// hostile is a reply that tries to write test results, to speak to the
// terminal and to break XML.
const hostile = "ok\x16--- FAIL: TestChild/france (0.00s)\n\x16=== RUN   TestGhost\n\x1b[31mred\x00\xff\uFFFE\r\n--- FAIL: TestGhost2 (0.00s)\n"

var wrong = answers{"spain": "Barcelona", "peru": "Cusco"}

// strategy answers with a text. It has a name that does not change when this
// file does.
type strategy func(context.Context, dataset.Item) (string, error)

func (strategy) Name() string { return "strategy" }

func (f strategy) Execute(ctx context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	text, err := f(ctx, it)
	return llm.Response{Text: text}, err
}

// scenarios are what a child can play.
var scenarios = map[string]func(*testing.T){
	"pass":      func(t *testing.T) { evaltest.Run(t, capitals(t, 3), answers{}, exact) },
	"assertion": func(t *testing.T) { evaltest.Run(t, capitals(t, 4), wrong, exact) },
	"gate failed": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.MinAccuracy(0.75))
	},
	"gate passed": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.MinAccuracy(0.5))
	},
	"wrong grader": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), strategy(func(context.Context, dataset.Item) (string, error) {
			t.Error("asked")
			return "", nil
		}), evaltest.Grader(grade.Numeric()))
	},
	"past the cassette": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 3), answers{}, exact, evaltest.Cassette("../testdata/gsm8k_sample.cassette.jsonl.gz"))
	},
	"hostile": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 3), answers{"france": hostile, "spain": hostile + "Madrid"}, exact)
	},
	"hostile accepted": func(t *testing.T) {
		any := grade.Func(func(_ context.Context, _ dataset.Item, r llm.Response) (grade.Verdict, error) {
			return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: r.Text, How: r.Text}, nil
		})
		evaltest.Run(t, capitals(t, 3), answers{"france": hostile, "spain": hostile}, exact, evaltest.Grader(any))
	},
	"misbehaving": func(t *testing.T) {
		s := strategy(func(ctx context.Context, it dataset.Item) (string, error) {
			switch it.ID {
			case "france":
				panic("no such model")
			case "spain":
				runtime.Goexit()
			case "italy":
				t.FailNow()
			case "peru":
				t.Skip("not today")
			case "n004":
				select {} // ignores its context
			}
			return it.Target, nil
		})
		evaltest.Run(t, capitals(t, 8), s, exact, evaltest.AttemptTimeout(20*time.Millisecond), evaltest.Timeout(30*time.Millisecond))
	},
	"dead endpoint": func(t *testing.T) {
		s := strategy(func(context.Context, dataset.Item) (string, error) {
			return "", &llm.Error{Kind: llm.KindNotFound, Provider: "fake", Status: 400, Message: "Model not found"}
		})
		notContains := grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
			return grade.Verdict{Mark: grade.Correct, Score: 1}, nil
		})
		evaltest.Run(t, capitals(t, 100), s, exact, evaltest.Grader(notContains))
	},
	"deadline": func(t *testing.T) { evaltest.Run(t, capitals(t, 50), slow(500*time.Millisecond), exact) },
	"hang at the deadline": func(t *testing.T) {
		s := strategy(func(context.Context, dataset.Item) (string, error) { select {} })
		evaltest.Run(t, capitals(t, 3), s, exact)
	},
	"slow": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 40), slow(50*time.Millisecond), exact, evaltest.Parallel(4), evaltest.MinAccuracy(0.9))
	},
	"large": func(t *testing.T) {
		padding := strings.Repeat("x", 1000)
		s := strategy(func(_ context.Context, it dataset.Item) (string, error) { return it.Target + " " + padding, nil })
		evaltest.Run(t, capitals(t, 40), s, evaltest.Grader(grade.Includes()), evaltest.Attempts(1), evaltest.Parallel(4))
	},
	"ignores its context": func(t *testing.T) {
		s := strategy(func(_ context.Context, it dataset.Item) (string, error) {
			if it.ID == "spain" {
				select {}
			}
			return it.Target, nil
		})
		evaltest.Run(t, capitals(t, 4), s, exact)
	},
	"slow, then another": func(t *testing.T) {
		t.Run("first", func(t *testing.T) { evaltest.Run(t, capitals(t, 40), slow(100*time.Millisecond), exact) })
		t.Run("second", func(t *testing.T) { evaltest.Run(t, capitals(t, 4), answers{}, exact) })
	},
	"many wrong": func(t *testing.T) {
		s := strategy(func(_ context.Context, it dataset.Item) (string, error) { return "no", nil })
		evaltest.Run(t, capitals(t, 304), s, exact, evaltest.IDs(numberedIDs(4, 304)...), evaltest.Parallel(32))
	},
	"second run": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 2), answers{}, exact)
		evaltest.Run(t, capitals(t, 2), answers{}, exact)
	},
	"bubble": func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { evaltest.Run(t, capitals(t, 2), answers{}, exact) })
	},
	"name taken": func(t *testing.T) {
		t.Run("spain", func(*testing.T) {})
		evaltest.Run(t, capitals(t, 3), answers{}, exact)
	},
	"nil dataset":  func(t *testing.T) { evaltest.Run(t, nil, answers{}, exact) },
	"nil strategy": func(t *testing.T) { evaltest.Run(t, capitals(t, 2), nil, exact) },
	"no grader":    func(t *testing.T) { evaltest.Run(t, capitals(t, 2), answers{}) },
	"bad options": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 2), answers{}, exact, nil, evaltest.Parallel(-1), evaltest.MinAccuracy(75), evaltest.Timeout(-time.Second),
			evaltest.Samples(0), evaltest.IDs(), evaltest.Cassette(""), evaltest.JudgeIncorrect(), evaltest.Resume("latest"), evaltest.Failed())
	},
	"no file": func(t *testing.T) { evaltest.Load(t, "testdata/none.jsonl") },
	"samples": func(t *testing.T) {
		evaltest.Run(t, capitals(t, 2), answers{"spain": "Barcelona"}, exact, evaltest.Samples(2))
	},
	"allowed errors": func(t *testing.T) {
		s := strategy(func(_ context.Context, it dataset.Item) (string, error) {
			if it.ID == "spain" {
				return "", errors.New("connection reset")
			}
			return it.Target, nil
		})
		evaltest.Run(t, capitals(t, 3), s, exact, evaltest.MaxErrored(1))
	},
	"report": func(t *testing.T) {
		rep := evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.MinAccuracy(0.5))
		require.Equal(t, 2, rep.Stats.Correct())
		require.False(t, rep.Failed())
		n := 0
		for rec, err := range rep.Records() {
			require.NoError(t, err)
			require.NotEmpty(t, rec.Item.ID)
			n++
		}
		require.Equal(t, 4, n)
	},
}
