package judge_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// TestGraderContract: the judge keeps the promises of a grader over a model that
// answers always alike.
func TestGraderContract(t *testing.T) {
	model := llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		_, answer, _ := strings.Cut(req.Messages[1].Content, "[BEGIN ANSWER ")
		if strings.Contains(answer, "Paris") {
			return said(`{"verdict":"C"}`), nil
		}
		return said(`{"verdict":"I"}`), nil
	})
	evaltest.TestGrader(t, func() grade.Grader { return judge.New(model) },
		evaltest.GraderExample{Name: "right", Item: capital, Response: said("Paris, of course"), Mark: right},
		evaltest.GraderExample{Name: "wrong", Item: capital, Response: said("Lyon"), Mark: wrong},
		evaltest.GraderExample{Name: "empty", Item: capital, Response: said(""), Mark: grade.Unparsed},
		evaltest.GraderExample{Name: "refused", Item: capital, Response: llm.Response{Refusal: "no"}, Mark: grade.Unparsed},
		evaltest.GraderExample{Name: "refused with a text", Item: capital, Response: llm.Response{Text: "Paris", Refusal: "no"}, Mark: grade.Unparsed},
		evaltest.GraderExample{Name: "still thinking", Item: capital, Response: said("<think>Paris"), Mark: grade.Unparsed},
		evaltest.GraderExample{Name: "tool call", Item: capital, Response: llm.Response{ToolCalls: []llm.ToolCall{{Name: "say", Arguments: `{"city":"Paris"}`}}}, Mark: right},
	)
}

// TestStructuredFallsBack: a provider that refuses schemas is asked for a marked
// line instead, at once, and from then on.
func TestStructuredFallsBack(t *testing.T) {
	refuses := func(kind llm.ErrorKind) *llmtest.Model {
		return &llmtest.Model{Reply: func(_ int, req llm.Request) (llm.Response, error) {
			if req.Schema != nil {
				return llm.Response{}, &llm.Error{Kind: kind, Message: "response_format is not supported"}
			}
			return said("It matches.\nGRADE: C"), nil
		}}
	}
	m := refuses(llm.KindBadRequest)
	j := judge.New(m)
	for i := range 3 {
		v := must(t, j, "Paris")
		assert.Equal(t, right, v.Mark)
		assert.Len(t, v.Calls, 1)
		assert.Equal(t, i+2, m.Calls(), "remembered")
	}
	assert.NotNil(t, m.Requests()[0].Schema)
	for _, req := range m.Requests()[1:] {
		assert.Nil(t, req.Schema)
		assert.Contains(t, req.Messages[0].Content, "GRADE: C")
	}

	m = refuses(llm.KindMiss)
	j = judge.New(m)
	must(t, j, "Paris")
	must(t, j, "Paris")
	assert.Equal(t, 4, m.Calls(), "a recording may hold either; nothing is learnt from a miss")

	m = refuses(llm.KindBadRequest)
	_, err := judge.New(m, judge.Structured(judge.Always)).Grade(t.Context(), capital, said("Paris"))
	assert.Equal(t, llm.KindBadRequest, llm.KindOf(err))
	assert.Equal(t, 1, m.Calls())

	m = refuses(llm.KindServer)
	_, err = judge.New(m).Grade(t.Context(), capital, said("Paris"))
	assert.Equal(t, llm.KindServer, llm.KindOf(err), "no word of a schema")
	assert.Equal(t, 1, m.Calls())

	// A request that is refused in both forms is not refused for its schema.
	bad := &llmtest.Model{Fault: func(int, llm.Request) llmtest.ModelFault {
		return llmtest.ModelFault{Err: &llm.Error{Kind: llm.KindBadRequest, Message: "no such setting"}}
	}}
	j = judge.New(bad)
	for range 2 {
		_, err = j.Grade(t.Context(), capital, said("Paris"))
		assert.Equal(t, llm.KindBadRequest, llm.KindOf(err))
	}
	assert.Equal(t, 4, bad.Calls())
	assert.NotNil(t, bad.Requests()[2].Schema, "not remembered")
}

// TestReaskKeepsTheForm: after a fallback the second question is one for a line.
func TestReaskKeepsTheForm(t *testing.T) {
	m := &llmtest.Model{Reply: func(n int, req llm.Request) (llm.Response, error) {
		switch {
		case req.Schema != nil:
			return llm.Response{}, &llm.Error{Kind: llm.KindBadRequest}
		case n == 2:
			return said("hm"), nil
		}
		return said("GRADE: I"), nil
	}}
	v := must(t, judge.New(m), "Lyon")
	assert.Equal(t, wrong, v.Mark)
	assert.Len(t, v.Calls, 2)
	assert.Equal(t, 3, m.Calls())
	assert.Nil(t, m.Requests()[2].Schema)
	assert.Contains(t, m.Requests()[2].Messages[3].Content, "last line")
}

func TestFailedCalls(t *testing.T) {
	boom := &llm.Error{Kind: llm.KindServer, Message: "boom"}
	m := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
		if n == 2 {
			return llm.Response{}, boom
		}
		return llm.Response{Text: "hm", Usage: llm.Usage{Input: 5, Output: 1, Known: true}}, nil
	}}
	v, err := judge.New(m).Grade(t.Context(), capital, said("Paris"))
	require.ErrorIs(t, err, boom)
	require.Len(t, v.Calls, 1, "what was paid before is told")
	assert.EqualValues(t, 5, v.Calls[0].Usage.Input)

	m = &llmtest.Model{Fault: llmtest.Nth(map[int]llmtest.ModelFault{1: {Err: &llm.Error{Kind: llm.KindBlocked, Message: "flagged", Usage: llm.Usage{Input: 9, Known: true}}}})}
	v, err = judge.New(m).Grade(t.Context(), capital, said("Paris"))
	require.NoError(t, err)
	assert.Equal(t, none, v.Mark)
	assert.Equal(t, judge.ReasonBlocked, v.Reason)
	require.Len(t, v.Calls, 1)
	assert.EqualValues(t, 9, v.Calls[0].Usage.Input)
	assert.Equal(t, 1, m.Calls(), "the same question is blocked again")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m = texts("GRADE: C")
	v, err = judge.New(m).Grade(ctx, capital, said("Paris"))
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, m.Calls())
	assert.Equal(t, grade.Verdict{}, v)
}

// TestBusyProvider: a judge called alone waits out a rate limit by itself, and a
// call.Model is not wrapped again.
func TestBusyProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := 7 * time.Second
		m := &llmtest.Model{
			Reply: func(int, llm.Request) (llm.Response, error) { return said("GRADE: C"), nil },
			Fault: llmtest.Nth(map[int]llmtest.ModelFault{1: {Err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: &wait}}}),
		}
		start := time.Now()
		assert.Equal(t, right, must(t, judge.New(m), "Paris").Mark)
		assert.Equal(t, wait, time.Since(start))
		assert.Equal(t, 2, m.Calls())

		scope := call.NewScope(call.Limits{})
		assert.Panics(t, func() { judge.New(call.New(m, call.Config{}), judge.Scope(scope)) })
		assert.Equal(t, right, must(t, judge.New(m, judge.Scope(scope)), "Paris").Mark)
		assert.Equal(t, right, must(t, judge.New(call.New(m, call.Config{Scope: scope})), "Paris").Mark)
	})
}

func TestConcurrent(t *testing.T) {
	m := &llmtest.Model{Reply: func(n int, req llm.Request) (llm.Response, error) {
		if req.Schema != nil {
			return llm.Response{}, &llm.Error{Kind: llm.KindBadRequest}
		}
		return said("GRADE: C"), nil
	}}
	j := judge.New(m, judge.Cache(judge.Dir(t.TempDir())), judge.Named("fake"))
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			v, err := j.Grade(context.Background(), capital, said(strings.Repeat("Paris ", i%4+1)))
			assert.NoError(t, err)
			assert.Equal(t, right, v.Mark)
		})
	}
	wait.Wait()
	assert.Empty(t, j.Warnings())
}

func TestName(t *testing.T) {
	m := texts("GRADE: C")
	base := judge.New(m, judge.Named("openai gpt-5-nano")).Name()
	assert.Regexp(t, `^judge-v1 openai gpt-5-nano [0-9a-f]{8}$`, base)
	assert.Equal(t, base, judge.New(texts("x"), judge.Named("openai gpt-5-nano")).Name(), "stable")
	seen := map[string]bool{base: true}
	for _, o := range []judge.Option{
		judge.Criteria("x"), judge.Instructions("x"), judge.WithReference(false), judge.MaxCandidate(1000), judge.Temperature(0), judge.Seed(1),
		judge.MaxOutputTokens(1), judge.Structured(judge.Never), judge.Thinking(llm.Thinking{Off: true}),
		judge.Choices(judge.Choice{Word: "yes", Mark: right, Score: 1}, judge.Choice{Word: "no", Mark: wrong}),
	} {
		name := judge.New(m, judge.Named("openai gpt-5-nano"), o).Name()
		assert.False(t, seen[name], "a run with other settings is another run")
		seen[name] = true
	}
	assert.Contains(t, judge.New(m).Name(), "llmtest.Model")
}

func TestMisuse(t *testing.T) {
	m := texts("GRADE: C")
	yes, no := judge.Choice{Word: "yes", Mark: right, Score: 1}, judge.Choice{Word: "no", Mark: wrong}
	for name, row := range map[string]struct {
		do   func()
		says string
	}{
		"nil model":       {func() { judge.New(nil) }, "the model is nil"},
		"nil option":      {func() { judge.New(m, nil) }, "option 1 is nil"},
		"reasks":          {func() { judge.Reasks(-1) }, "Reasks(-1)"},
		"candidate":       {func() { judge.MaxCandidate(255) }, "MaxCandidate(255)"},
		"criteria":        {func() { judge.Criteria(" ") }, "empty"},
		"instructions":    {func() { judge.Instructions("") }, "empty"},
		"temperature":     {func() { judge.Temperature(math.NaN()) }, "NaN"},
		"temperature -":   {func() { judge.Temperature(-1) }, "-1"},
		"temperature inf": {func() { judge.Temperature(math.Inf(1)) }, "+Inf"},
		"cap":             {func() { judge.MaxOutputTokens(0) }, "MaxOutputTokens(0)"},
		"structure":       {func() { judge.Structured(7) }, "Structured(7)"},
		"scope":           {func() { judge.Scope(nil) }, "Scope(nil)"},
		"name":            {func() { judge.Named("") }, "empty"},
		"cache":           {func() { judge.Cache(nil) }, "Cache(nil)"},
		"folder":          {func() { judge.Dir("") }, "empty"},
		"unnamed":         {func() { judge.New(m, judge.Cache(judge.Dir("x"))) }, "judge.Named"},
		"unnamed inside":  {func() { judge.New(call.New(m, call.Config{}), judge.Cache(judge.Dir("x"))) }, "judge.Named"},
		"no choice":       {func() { judge.Choices() }, "no choice"},
		"one choice":      {func() { judge.Choices(yes) }, "at least two"},
		"same word":       {func() { judge.Choices(yes, judge.Choice{Word: "YES", Mark: wrong}) }, "stands twice"},
		"same spelling":   {func() { judge.Choices(yes, judge.Choice{Word: "n", Also: []string{"Yes"}, Mark: wrong}) }, "stands twice"},
		"no word":         {func() { judge.Choices(yes, judge.Choice{Word: "*no*", Mark: wrong}) }, "is no word"},
		"empty word":      {func() { judge.Choices(yes, judge.Choice{Mark: wrong}) }, "is no word"},
		"no ASCII":        {func() { judge.Choices(yes, judge.Choice{Word: "né", Mark: wrong}) }, "is no word"},
		"no mark":         {func() { judge.Choices(yes, judge.Choice{Word: "no"}) }, `its mark is ""`},
		"unparsed":        {func() { judge.Choices(yes, judge.Choice{Word: "no", Mark: grade.Unparsed}) }, "unparsed"},
		"NaN":             {func() { judge.Choices(no, judge.Choice{Word: "yes", Mark: right, Score: math.NaN()}) }, "NaN"},
		"above 1":         {func() { judge.Choices(no, judge.Choice{Word: "yes", Mark: right, Score: math.Nextafter(1, 2)}) }, "outside"},
		"correct 0":       {func() { judge.Choices(no, judge.Choice{Word: "yes", Mark: right}) }, "score of 0"},
		"ungraded 1":      {func() { judge.Choices(no, judge.Choice{Word: "u", Mark: none, Score: 1}) }, "leave the score 0"},
		"parse":           {func() { judge.ParseReply("yes", yes) }, "at least two"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				p := recover()
				require.NotNil(t, p)
				text, _ := p.(string)
				assert.Contains(t, text, row.says)
			}()
			row.do()
		})
	}
}

var errDisk = errors.New("disk full")
