package evaltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
)

// A day is a strategy whose answers a child's environment decides: which items
// it gets wrong, which end in an error, and how often.
type day struct {
	wrong, broken, flaky []string // ids; "n004-n011" are several
	model                string
	mu                   sync.Mutex
	asked                map[string]int
}

func today() *day {
	list := func(name string) (ids []string) {
		for part := range strings.SplitSeq(os.Getenv(name), ",") {
			var i, j int
			if n, _ := fmt.Sscanf(part, "n%d-n%d", &i, &j); n == 2 {
				ids = append(ids, numberedIDs(i, j+1)...)
			} else if part != "" {
				ids = append(ids, part)
			}
		}
		return ids
	}
	return &day{wrong: list("DAY_WRONG"), broken: list("DAY_BROKEN"), flaky: list("DAY_FLAKY"), model: os.Getenv("DAY_MODEL"), asked: map[string]int{}}
}

func (d *day) Name() string { return "day" }

func (d *day) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[it.ID]++
	resp := llm.Response{Text: it.Target, Model: d.model, Usage: llm.Usage{Input: 100, Output: 10, Known: true}, CostUSD: "0.001"}
	in := func(list []string) bool {
		for _, id := range list {
			if id == it.ID {
				return true
			}
		}
		return false
	}
	switch {
	case in(d.broken):
		return llm.Response{}, errors.New("connection reset")
	case in(d.wrong), in(d.flaky) && d.asked[it.ID] == 1:
		resp.Text = "I do not know"
	}
	return resp, nil
}

// grouped is capitals in groups of n.
func grouped(t testing.TB, items, groups int) *dataset.Dataset {
	t.Helper()
	all := capitals(t, items).Items()
	for i := range all {
		all[i].Group = fmt.Sprintf("g%d", i%groups)
	}
	ds, err := dataset.New("grouped", all)
	require.NoError(t, err)
	return ds
}

func init() {
	based := evaltest.Options(exact, evaltest.Offline(), evaltest.Baseline("testdata/none"))
	scenarios["based"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 40), today(), based) }
	scenarios["based, samples"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 20), today(), based, evaltest.Samples(3))
	}
	scenarios["based, reported model"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 40), today(), based) }
	scenarios["based, ask"] = func(t *testing.T) {
		m := fixed(os.Getenv("DAY_MODEL"))
		evaltest.Run(t, capitals(t, 4), evaltest.Ask(m, func(it dataset.Item) llm.Request {
			req := llm.Prompt(os.Getenv("DAY_PROMPT") + it.Input)
			req.MaxOutputTokens = new(int64(50))
			if os.Getenv("DAY_TEMPERATURE") != "" {
				req.Temperature = new(0.5)
			}
			return req
		}), based)
	}
	scenarios["gates"] = func(t *testing.T) {
		evaltest.Run(t, grouped(t, 40, 2), today(), exact, evaltest.MinGroups(0.9), evaltest.MinGroup("g1", 0.5), evaltest.MaxLatency(0.9, time.Minute))
	}
	scenarios["curtailed"] = func(t *testing.T) {
		d := today()
		evaltest.Run(t, capitals(t, 200), d, exact, evaltest.MinAccuracy(0.5), evaltest.Curtail())
		fmt.Printf("asked %d\n", len(d.asked))
	}
	scenarios["bad gates"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), answers{}, exact, evaltest.Baseline(""), evaltest.MaxDrop(2), evaltest.Alpha(0), evaltest.OnMismatch("maybe"), evaltest.MinGroups(80),
			evaltest.MinGroup("de", -1), evaltest.MaxLatency(99, time.Second), evaltest.Confirm(0), evaltest.Curtail(),
			evaltest.Comparing(gate.CompareOptions{Alpha: 0.1}), evaltest.Comparing(gate.CompareOptions{Detect: 2}), evaltest.Calibrated(nil), evaltest.RequireAgreement(&judge.Calibration{}, 70))
	}
	scenarios["gates without a baseline"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), answers{}, exact, evaltest.MaxDrop(0.1), evaltest.Confirm(1))
	}
}

// fixed is a model that answers everything in the same way.
type fixed string

func (m fixed) Name() string { return string(m) }

func (m fixed) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: "Paris", Model: string(m), Finish: llm.FinishStop, Usage: llm.Usage{Input: 12, Output: 1, Known: true}}, nil
}

// lenient is a judge that passes whatever it is asked about, and costs
// something.
type lenient struct{}

func (lenient) Name() string { return "lenient" }

func (lenient) Grade(_ context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
	return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: resp.Text, How: "lenient", Calls: []llm.Response{
		{Text: "C", Model: "judge-1", Usage: llm.Usage{Input: 50, Output: 1, Known: true}, CostUSD: "0.0001"},
	}}, nil
}

// words finds an answer only where it is in one word.
var words = grade.Func(func(_ context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
	switch {
	case resp.Text == it.Target:
		return grade.Verdict{Mark: grade.Correct, Score: 1, Answer: resp.Text, How: "words"}, nil
	case strings.Contains(resp.Text, " "):
		return grade.Verdict{Mark: grade.Unparsed, Reason: grade.ReasonNoAnswer, How: "words"}, nil
	}
	return grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong, How: "words"}, nil
})

func labelledAnswers(n, passed int, label grade.Mark) (list []judge.Labelled) {
	for i := range n {
		text := "wrong, and I know it"
		if i < passed {
			text = "right, perhaps"
		}
		list = append(list, judge.Labelled{Item: dataset.Item{ID: fmt.Sprintf("%s%d", label, i), Input: "?", Target: "x"}, Response: llm.Response{Text: text}, Label: label})
	}
	return list
}

// careful passes what says that it is right.
type careful struct{ lenient }

func (careful) Name() string { return "careful" }

func (c careful) Grade(ctx context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
	v, err := c.lenient.Grade(ctx, it, resp)
	if !strings.HasPrefix(resp.Text, "right") {
		v.Mark, v.Score, v.Reason = grade.Incorrect, 0, grade.ReasonWrong
	}
	return v, err
}

func init() {
	judged := func(t *testing.T, texts map[string]string, opts ...evaltest.Option) {
		evaltest.Run(t, capitals(t, 8), answers(texts), evaltest.Options(exact, evaltest.Grader(words), evaltest.Offline(), evaltest.MinAccuracy(0.5)), evaltest.Options(opts...))
	}
	scenarios["canaries missed"] = func(t *testing.T) {
		canaries := append(labelledAnswers(1, 1, grade.Correct), labelledAnswers(1, 0, grade.Incorrect)...)
		judged(t, map[string]string{"spain": "I think Barcelona", "italy": "It is Rome", "peru": "Cusco"},
			evaltest.Judge(judge.WithCanaries(lenient{}, canaries, judge.CanaryConfig{})))
	}
	scenarios["curtailed, canaries missed"] = func(t *testing.T) {
		canaries := append(labelledAnswers(1, 1, grade.Correct), labelledAnswers(1, 0, grade.Incorrect)...)
		texts := map[string]string{}
		for _, id := range numberedIDs(4, 20) {
			texts[id] = "It is so"
		}
		evaltest.Run(t, capitals(t, 40), answers(texts), exact, evaltest.Grader(words), evaltest.Offline(), evaltest.MinAccuracy(0.25), evaltest.Curtail(),
			evaltest.MaxUngraded(40), evaltest.Judge(judge.WithCanaries(lenient{}, canaries, judge.CanaryConfig{})))
	}
	scenarios["calibrated"] = func(t *testing.T) {
		c, err := judge.Calibrate(t.Context(), careful{}, append(labelledAnswers(40, 36, grade.Correct), labelledAnswers(40, 8, grade.Incorrect)...), judge.CalibrateConfig{})
		require.NoError(t, err)
		judged(t, map[string]string{"spain": "right, Madrid", "italy": "right, Rome", "peru": "no idea at all"},
			evaltest.Judge(careful{}), evaltest.RequireAgreement(c, 0.65))
	}
	scenarios["calibration of another"] = func(t *testing.T) {
		c, err := judge.Calibrate(t.Context(), careful{}, labelledAnswers(4, 4, grade.Correct), judge.CalibrateConfig{})
		require.NoError(t, err)
		judged(t, nil, evaltest.Judge(lenient{}), evaltest.RequireAgreement(c, 0.6))
	}
}
