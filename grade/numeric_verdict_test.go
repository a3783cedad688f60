package grade

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

func TestNumericSaysHow(t *testing.T) {
	for _, row := range []struct {
		name, response, how string
	}{
		{"hashes", "9*2=18\n#### 18", `numeric: marker "####"`},
		{"box", `\boxed{18}`, "numeric: boxed"},
		{"word", "Answer: 18", `numeric: marker "Answer:"`},
		{"is", "The answer is 18", `numeric: marker "answer is"`},
		{"tag", "<answer>18</answer>", `numeric: marker "<answer>"`},
		{"field", `{"answer": 18}`, `numeric: marker "\"answer\""`},
		{"last number", "So 18.", "numeric: last number"},
		{"solution", "Answer: She has 9 eggs. So 9*2=18.", `numeric: marker "Answer:", last number`},
		{"correction", "Answer: 17. No, it is 18.", `numeric: marker "Answer:", corrected`},
		{"words", "Answer: eighteen", `numeric: marker "Answer:", in words`},
	} {
		v := gradeNumber(t, Numeric(), row.response, "18")
		assert.Equal(t, Verdict{Mark: Correct, Score: 1, Answer: v.Answer, How: row.how}, v, row.name)
		assert.Contains(t, row.response, v.Answer, row.name)
	}
}

func TestNumericSaysWhy(t *testing.T) {
	v := gradeNumber(t, Numeric(), "ANSWER: 20%", "0.2")
	assert.Equal(t, Verdict{Mark: Incorrect, Answer: "20%", How: `numeric: marker "ANSWER:"`, Reason: ReasonWrong, Why: `got "20%", want "0.2"`}, v)

	// What the response says is quoted, so that it cannot forge a log line.
	v = gradeNumber(t, Numeric(), "Answer: 18 or\u202f\x16 20", "18")
	assert.NotContains(t, v.Why, "\x16")

	v = gradeNumber(t, Numeric(), "Answer: "+strings.Repeat("9*", 5000)+"9", "18")
	assert.Less(t, len(v.Why), 400, "a long response is not repeated whole")
}

// TestNumericTellsFailuresApart: empty, refused and wrong have reasons of their
// own.
func TestNumericTellsFailuresApart(t *testing.T) {
	item := dataset.Item{ID: "1", Target: "18"}
	for _, row := range []struct {
		name string
		resp llm.Response
		mark Mark
		why  Reason
	}{
		{"empty", llm.Response{Finish: llm.FinishStop}, Unparsed, ReasonNoResponse},
		{"refusal", llm.Response{Refusal: "I can't help with that."}, Unparsed, ReasonRefusal},
		{"refusal beside text", llm.Response{Text: "18", Refusal: "no"}, Unparsed, ReasonRefusal},
		{"wrong", llm.Response{Text: "17"}, Incorrect, ReasonWrong},
		{"reasoning apart", llm.Response{Reasoning: "18"}, Unparsed, ReasonNoResponse},
	} {
		v, err := Numeric().Grade(context.Background(), item, row.resp)
		require.NoError(t, err, row.name)
		require.NoError(t, v.Check(), row.name)
		assert.Equal(t, row.mark, v.Mark, row.name)
		assert.Equal(t, row.why, v.Reason, row.name)
	}
}

func TestNumericTargets(t *testing.T) {
	item := dataset.Item{ID: "7", Target: "18", Targets: []string{"20", "1/2"}}
	for response, want := range map[string]Mark{"#### 18": Correct, "#### 20.0": Correct, "#### 0.5": Correct, "#### 19": Incorrect} {
		v, err := Numeric().Grade(context.Background(), item, llm.Response{Text: response})
		require.NoError(t, err)
		assert.Equal(t, want, v.Mark, response)
		if want == Incorrect {
			assert.Equal(t, `got "19", want "18" or "20" or "1/2"`, v.Why)
		}
	}
	v, err := Numeric().Grade(context.Background(), dataset.Item{ID: "8", Targets: []string{"18"}}, llm.Response{Text: "18"})
	require.NoError(t, err)
	assert.Equal(t, Correct, v.Mark, "Targets alone")
}

func TestNumericRefusesTargets(t *testing.T) {
	for _, target := range []string{"", "unknown", "18 or 20", "4,2", "<18", "about 18", "3/4/2024", "1/0", "1e9999", "18 eggs", "x = 18", "9*2", "1.2.3", "18!!x"} {
		_, err := Numeric().Grade(context.Background(), dataset.Item{ID: "row-9", Target: target}, llm.Response{})
		var bad *TargetError
		if assert.True(t, errors.As(err, &bad), "target %q: %v", target, err) {
			assert.Equal(t, "row-9", bad.Item)
			assert.Equal(t, target, bad.Target)
			assert.ErrorIs(t, err, ErrTarget)
		}
	}
	// One bad target among good ones is an error too: nothing is dropped.
	_, err := Numeric().Grade(context.Background(), dataset.Item{ID: "x", Target: "18", Targets: []string{"eighty-eleven"}}, llm.Response{Text: "18"})
	assert.Error(t, err)
}

func TestNumericOptions(t *testing.T) {
	for _, row := range []struct {
		name, reason     string
		opts             []NumericOption
		response, target string
		want             Mark
	}{
		{"tolerance", "inside", []NumericOption{Tolerance("0.01")}, "Answer: 3.14", "3.15", Correct},
		{"tolerance, edge", "the limit itself is accepted, exactly", []NumericOption{Tolerance("0.01")}, "Answer: 3.16", "3.15", Correct},
		{"tolerance, beyond", "exact decimals", []NumericOption{Tolerance("0.01")}, "Answer: 3.1600000000000000000001", "3.15", Incorrect},
		{"tolerance, below", "both sides", []NumericOption{Tolerance("1/2")}, "Answer: 17.5", "18", Correct},
		{"relative", "inside", []NumericOption{RelativeTolerance("0.01")}, "Answer: 101", "100", Correct},
		{"relative, negative target", "share of its size", []NumericOption{RelativeTolerance("0.01")}, "Answer: -101", "-100", Correct},
		{"relative, beyond", "beyond", []NumericOption{RelativeTolerance("0.01")}, "Answer: 101.1", "100", Incorrect},
		{"relative, zero", "nothing is near 0", []NumericOption{RelativeTolerance("0.5")}, "Answer: 0.1", "0", Incorrect},
		{"tolerance and bound", "a bound stays one", []NumericOption{Tolerance("1")}, "Answer: ~18", "18", Unparsed},
		{"marker", "the caller's marker wins", []NumericOption{Marker("RESULT:")}, "RESULT: 18\nThe answer is above 2.", "18", Correct},
		{"marker, last", "its last use wins", []NumericOption{Marker("RESULT:")}, "RESULT: 17\nRESULT: 18", "18", Correct},
		{"marker, absent", "the built-in ones are left", []NumericOption{Marker("RESULT:")}, "Answer: 18, or 2", "2", Unparsed},
		{"marker, glued", "no blank is needed", []NumericOption{Marker("RESULT")}, "RESULT18", "18", Correct},
		{"marker required", "no last number", []NumericOption{RequireMarker()}, "So 18.", "18", Unparsed},
		{"marker required, there", "any built-in one", []NumericOption{RequireMarker()}, "#### 18", "18", Correct},
		{"own marker required", "only that one", []NumericOption{Marker("RESULT:"), RequireMarker()}, "#### 18", "18", Unparsed},
		{"two markers", "each counts", []NumericOption{Marker("R1"), Marker("R2")}, "R2 17\nR1 18", "18", Correct},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := gradeNumber(t, Numeric(row.opts...), row.response, row.target)
			assert.Equal(t, row.want, v.Mark, "%s: %+v", row.reason, v)
		})
	}
}

func TestNumericRefusesOptions(t *testing.T) {
	for name, f := range map[string]func(){
		`grade.Locale: unknown locale "xx"`:            func() { Locale("xx") },
		`grade.Locale: unknown locale ""`:              func() { Locale("") },
		`grade.Marker: " " has no visible`:             func() { Marker(" ") },
		`grade.Tolerance: "-1" is not a number from 0`: func() { Tolerance("-1") },
		`grade.Tolerance: "NaN" is not`:                func() { Tolerance("NaN") },
		`grade.RelativeTolerance: "" is not`:           func() { RelativeTolerance("") },
	} {
		func() {
			defer func() {
				got, _ := recover().(string)
				assert.Contains(t, got, name)
			}()
			f()
		}()
	}
}

func TestNumericName(t *testing.T) {
	assert.Equal(t, "numeric", NameOf(Numeric()))
	assert.Equal(t, "numeric", NameOf(Numeric(Locale("en"))))
	assert.Equal(t, `numeric(locale=de, marker="R:", marker required, tolerance=1/100, relative tolerance=1/50)`,
		NameOf(Numeric(Locale("de"), Marker("R:"), RequireMarker(), Tolerance("0.01"), RelativeTolerance("0.02"))))
}
