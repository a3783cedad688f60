package gate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

func record(id string, sample int, o result.Outcome) *result.Record {
	r := &result.Record{Item: result.Item{ID: id, Group: "g-" + id[:1]}, Sample: sample, Outcome: o}
	if o == result.Correct {
		r.Score = 1
	}
	r.Usage.Count(llm.Usage{Input: 10, Output: 5, Known: true})
	r.CostUSD = "0.0001"
	return r
}

func sample(t *testing.T) *gate.Baseline {
	part := record("b1", 1, result.Incorrect)
	part.Score = 0.25
	b, err := gate.BaselineOf(gate.BaselineHeader{Fingerprint: map[string]string{"model": "m-1", "grader": "numeric"}},
		slices.Values([]*result.Record{record("b1", 0, result.Errored), record("a<1>", 1, result.Unparsed), record("b1", 0, result.Correct), part, record("a<1>", 0, result.Correct)}))
	require.NoError(t, err)
	return b
}

const sampleText = `{"format":"evals.baseline/1","fingerprint":{"grader":"numeric","model":"m-1"},"items":2,"samples":2,"counts":{"correct":2,"incorrect":1,"unparsed":1},"usage":{"input":40,"cached_input":0,"output":20,"reasoning":0,"known":true,"cache_write":0,"cache_write_1h":0,"calls":4,"unknown":0},"cost_usd":"0.0004"}
{"id":"a<1>","group":"g-a","outcomes":["correct","unparsed"],"input":20,"output":10}
{"id":"b1","group":"g-b","outcomes":["correct","incorrect"],"scores":[1,0.25],"input":20,"output":10}
`

func write(t testing.TB, b *gate.Baseline) string {
	var buf bytes.Buffer
	require.NoError(t, b.Write(&buf))
	return buf.String()
}

func TestBaselineFile(t *testing.T) {
	b := sample(t)
	text := write(t, b)
	assert.Equal(t, sampleText, text, "one line an item, sorted, the later record of a sample, no time")
	back, err := gate.ReadBaseline(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, b, back)

	var one, two bytes.Buffer
	require.NoError(t, b.WriteGzip(&one))
	require.NoError(t, back.WriteGzip(&two))
	assert.Equal(t, one.Bytes(), two.Bytes(), "equal runs, equal bytes")
	back, err = gate.ReadBaseline(&one)
	require.NoError(t, err)
	assert.Equal(t, b, back, "compressed")

	b.Header.Created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	assert.Contains(t, write(t, b), `"created":"2026-01-02T03:04:05Z"`, "a time that is given is kept")
}

func TestRecorder(t *testing.T) {
	var r gate.Recorder
	r.Owe("b", "g")
	r.Owe("a", "")
	r.Add(record("a", 0, result.Correct))
	b, err := r.Baseline(gate.BaselineHeader{Samples: 2})
	require.NoError(t, err)
	require.Len(t, b.Items, 2)
	assert.Equal(t, []result.Outcome{result.Correct, result.NotRun}, b.Items[0].Outcomes)
	assert.Equal(t, []result.Outcome{result.NotRun, result.NotRun}, b.Items[1].Outcomes, "an item that is owed never ran")
	assert.Equal(t, result.Counts{result.Correct: 1, result.NotRun: 3}, b.Header.Counts)
	assert.Equal(t, "0.0001", b.Header.CostUSD)
	assert.Equal(t, map[string]gate.Counts{"g": {Total: 2, Items: 1, NotRun: 2}, "g-a": {Total: 2, Items: 1, Correct: 1, NotRun: 1}}, b.Groups())

	unknown := record("c", 0, result.Incorrect)
	unknown.CostUSD = ""
	r.Add(unknown)
	b, err = r.Baseline(gate.BaselineHeader{})
	require.NoError(t, err)
	assert.Empty(t, b.Header.CostUSD, "one unknown cost makes the sum unknown")

	r.Add(record("d", 3, result.Correct))
	_, err = r.Baseline(gate.BaselineHeader{Samples: 2})
	assert.ErrorContains(t, err, "sample 3")
	r.Add(&result.Record{Item: result.Item{ID: "e"}, Outcome: "passed"})
	_, err = r.Baseline(gate.BaselineHeader{})
	assert.ErrorContains(t, err, `item "e": field "outcomes": unknown outcome "passed"`)
}

func TestReadBaselineRefuses(t *testing.T) {
	edit := func(old, now string) string {
		require.Contains(t, sampleText, old)
		return strings.Replace(sampleText, old, now, 1)
	}
	lines := strings.SplitAfter(sampleText, "\n")
	for _, tt := range []struct {
		name, reason, text string
		line               int
		field, says        string
	}{
		{"empty", "a file that was created and never written", "", 1, "", "empty"},
		{"no JSON", "another file", "hello\n", 1, "", "no valid JSON"},
		{"another format", "a journal", edit("evals.baseline/1", "evals.journal/1"), 1, "format", "no baseline"},
		{"version", "never read as what it is not", edit("baseline/1", "baseline/2"), 1, "format", "does not read"},
		{"no format", "", edit(`"format":"evals.baseline/1",`, ""), 1, "format", "missing"},
		{"no samples", "no default", edit(`,"samples":2`, ""), 1, "samples", "want 1"},
		{"no fingerprint", "no default", edit(`"fingerprint":{"grader":"numeric","model":"m-1"},`, ""), 1, "fingerprint", "missing"},
		{"no counts", "no default", edit(`,"counts":{"correct":2,"incorrect":1,"unparsed":1}`, ""), 1, "counts", "missing"},
		{"counts do not add up", "4 answers", edit(`"correct":2,"i`, `"correct":3,"i`), 1, "counts", "come to 5"},
		{"counts of others", "changed by hand", edit(`"incorrect":1,"unparsed":1`, `"incorrect":2`), 1, "counts", "by hand"},
		{"unknown count", "", edit(`"unparsed":1}`, `"fine":1}`), 1, "counts", `"fine"`},
		{"negative usage", "", edit(`"usage":{"input":40`, `"usage":{"input":-40`), 1, "usage", "negative"},
		{"cost", "a price of digits", edit(`"0.0004"`, `"1e99999999"`), 1, "cost_usd", "is no"},
		{"unknown field of the header", "another version's", edit(`"items":2`, `"items":2,"itmes":2`), 1, "itmes", "not known"},
		{"number as text", "", edit(`"items":2`, `"items":"2"`), 1, "items", "string"},
		{"huge", "no allocation for what is not there", edit(`"items":2`, `"items":9223372036854775807`), 1, "counts", "come to"},
		{"cut off", "an item is missing", lines[0] + lines[1], 1, "items", "cut off"},
		{"cut in a line", "no line feed", sampleText[:len(sampleText)-9], 3, "", "cut off"},
		{"one more", "", sampleText + `{"id":"c","outcomes":["correct","correct"]}` + "\n", 4, "", "one item more"},
		{"blank line", "", lines[0] + "\n" + lines[1] + lines[2], 2, "", "no valid JSON"},
		{"duplicate id", "", lines[0] + lines[1] + lines[1], 3, "id", "duplicate"},
		{"order", "", lines[0] + lines[2] + lines[1], 3, "id", "sorted"},
		{"no id", "", edit(`"id":"b1",`, ""), 3, "id", "missing"},
		{"no outcomes", "", edit(`"outcomes":["correct","unparsed"],`, ""), 2, "outcomes", "0 of them"},
		{"unknown outcome", "", edit(`["correct","unparsed"]`, `["correct","Correct"]`), 2, "outcomes", `"Correct"`},
		{"more samples", "", edit(`["correct","unparsed"]`, `["correct","unparsed","correct"]`), 2, "outcomes", "3 of them"},
		{"score", "", edit("0.25", "1.25"), 3, "scores", "1.25"},
		{"no number", "", edit("0.25", "NaN"), 3, "scores", "no valid JSON"},
		{"scores", "", edit("[1,0.25]", "[1]"), 3, "scores", "1 of them"},
		{"tokens", "", edit(`"input":20`, `"input":-1`), 2, "input", "-1"},
		{"unknown field", "", edit(`"id":"a<1>"`, `"id":"a<1>","verdict":"x"`), 2, "verdict", "not known"},
		{"field twice", "which of them?", edit(`"id":"a<1>"`, `"id":"a<1>","id":"a"`), 2, "id", "no valid JSON"},
		{"not UTF-8", "", edit("a<1>", "a\xff"), 2, "id", "no valid JSON"},
		{"merge conflict", "what git leaves", lines[0] + "<<<<<<< HEAD\n" + lines[1] + "=======\n" + lines[1] + ">>>>>>> other\n" + lines[2], 2, "", "a merge conflict: take the whole file of one side, or accept a run again"},
		{"merge conflict, first", "", "<<<<<<< HEAD\n" + sampleText, 1, "", "a merge conflict"},
		{"byte order mark", "an editor's", "\ufeff" + sampleText, 1, "", "a byte order mark: save it without one"},
		{"too many tokens", "of 64 bits", edit(`"input":20`, `"input":99999999999999999999`), 2, "input", "99999999999999999999 is no whole number of 64 bits"},
		{"a fraction of a token", "", edit(`"input":20`, `"input":0.5`), 2, "input", "0.5 is no whole number of 64 bits"},
		{"a score beyond floats", "", edit(`0.25`, `1e999`), 3, "scores", "1e999 is out of range"},
		{"text as score", "named as JSON does", edit(`0.25`, `"NaN"`), 3, "scores", "a JSON string cannot be a number"},
		{"outcomes no list", "", edit(`["correct","unparsed"]`, `"correct"`), 2, "outcomes", "a JSON string cannot be a list"},
		{"deep", "", edit(`"id":"a<1>"`, `"id":`+strings.Repeat("[", 20000)), 2, "id", "max depth"},
		{"trailing garbage", "", sampleText + "x\n", 4, "", "no valid JSON"},
		{"two values a line", "", strings.Replace(sampleText, "}\n{", "} {", 1), 1, "", "no valid JSON"},
		{"long line", "1 MB", edit("a<1>", strings.Repeat("a", 1<<20)), 2, "", "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := gate.ReadBaseline(strings.NewReader(tt.text))
			require.Error(t, err, tt.reason)
			assert.Nil(t, b)
			assert.ErrorIs(t, err, gate.ErrBaseline)
			var at *gate.LineError
			require.ErrorAs(t, err, &at)
			assert.Equal(t, tt.line, at.Line, "%v", err)
			assert.Equal(t, tt.field, at.Field, "%v", err)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}

func TestReadBaselineDamaged(t *testing.T) {
	var zipped bytes.Buffer
	require.NoError(t, sample(t).WriteGzip(&zipped))
	whole := zipped.Bytes()
	for n := 1; n < len(whole); n++ {
		_, err := gate.ReadBaseline(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, gate.ErrBaseline, "cut after %d bytes of %d", n, len(whole))
	}
	broken := slices.Clone(whole)
	broken[len(broken)-5] ^= 1 // in the checksum and length at the end
	_, err := gate.ReadBaseline(bytes.NewReader(broken))
	assert.ErrorIs(t, err, gate.ErrBaseline)

	var bomb bytes.Buffer
	zw := gzip.NewWriter(&bomb)
	for range 64 {
		_, err := zw.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, zw.Close())
	_, err = gate.ReadBaseline(&bomb)
	assert.ErrorIs(t, err, gate.ErrBaseline, "a line of 64 MB from a few KB")

	cause := errors.New("disk on fire")
	_, err = gate.ReadBaseline(io.MultiReader(strings.NewReader(sampleText[:300]), &failing{cause}))
	assert.ErrorIs(t, err, cause)
	assert.NotErrorIs(t, err, gate.ErrBaseline, "the file may be sound")
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestWriteRefuses(t *testing.T) {
	b := sample(t)
	b.Items[0], b.Items[1] = b.Items[1], b.Items[0]
	var buf bytes.Buffer
	assert.ErrorContains(t, b.Write(&buf), "sorted by id")
	assert.Zero(t, buf.Len(), "nothing is written of what would not be read")

	b = sample(t)
	b.Items[1].ID = strings.Repeat("z", 1<<20)
	assert.ErrorContains(t, b.Write(&buf), "line 3: longer than")
	b = sample(t)
	b.Header.Fingerprint["model"] = strings.Repeat("m", 1<<20)
	assert.ErrorContains(t, b.Write(&buf), "line 1: longer than")
}

// FuzzReadBaseline: whatever is read writes the same bytes again.
func FuzzReadBaseline(f *testing.F) {
	f.Add([]byte(sampleText))
	f.Add([]byte(strings.Replace(sampleText, "unparsed\"]", "not_run\"]", 1)))
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(`{"format":"evals.baseline/1","fingerprint":{},"items":0,"samples":1,"counts":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := gate.ReadBaseline(bytes.NewReader(data))
		if err != nil {
			assert.Nil(t, b)
			return
		}
		text := write(t, b)
		again, err := gate.ReadBaseline(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, text, write(t, again))
		c, err := gate.Compare(b, again, gate.CompareOptions{})
		require.NoError(t, err)
		assert.Equal(t, 1.0, c.P, "a run against itself")
	})
}

func large(n int) *gate.Baseline {
	var r gate.Recorder
	for i := range n {
		o := result.Correct
		if i%7 == 0 {
			o = result.Incorrect
		}
		r.Add(record(fmt.Sprintf("item-%06d", i), 0, o))
	}
	b, err := r.Baseline(gate.BaselineHeader{})
	if err != nil {
		panic(err)
	}
	return b
}

func BenchmarkReadBaseline(b *testing.B) {
	var buf bytes.Buffer
	require.NoError(b, large(10_000).WriteGzip(&buf))
	b.ReportMetric(float64(buf.Len()), "file-bytes")
	for b.Loop() {
		if _, err := gate.ReadBaseline(bytes.NewReader(buf.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	old, now := large(10_000), large(10_000)
	for i := range now.Items {
		if i%50 == 0 {
			now.Items[i].Outcomes = []result.Outcome{result.Errored}
		}
	}
	for b.Loop() {
		if _, err := gate.Compare(old, now, gate.CompareOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
