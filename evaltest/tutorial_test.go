package evaltest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm/llmtest"
)

// What the tutorial, gsm8k_test.go at the project's root, is made of.
const (
	tutorialFile     = "gsm8k_test.go"
	tutorialRows     = "testdata/gsm8k_sample.jsonl.gz"
	tutorialAnswers  = "testdata/gsm8k_sample.cassette.jsonl.gz"
	tutorialAccepted = "testdata/gsm8k_sample.baseline.jsonl.gz"
)

// newTutorial is a module that has the tutorial as its only test, as a newcomer
// would copy it.
func newTutorial(t *testing.T) *userModule {
	t.Helper()
	m := newModule(t, nil)
	for _, name := range []string{tutorialFile, tutorialRows, tutorialAnswers, tutorialAccepted} {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		m.write(name, string(text))
	}
	return m
}

// acceptedRun is the tutorial's baseline.
func acceptedRun(t *testing.T) *gate.Baseline {
	t.Helper()
	f, err := os.Open("../" + tutorialAccepted)
	require.NoError(t, err)
	defer f.Close()
	b, err := gate.ReadBaseline(f)
	require.NoError(t, err)
	return b
}

// ended are the ids of the items that the baseline has as this.
func ended(b *gate.Baseline, outcome result.Outcome) (ids []string) {
	for _, it := range b.Items {
		if it.Outcomes[0] == outcome {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// TestTutorialIsShort: it is read from top to bottom.
func TestTutorialIsShort(t *testing.T) {
	text, err := os.ReadFile("../" + tutorialFile)
	require.NoError(t, err)
	assert.Less(t, bytes.Count(text, []byte("\n")), 150)
}

// TestTutorial does with the tutorial what it says that one can do.
func TestTutorial(t *testing.T) {
	t.Parallel()
	m := newTutorial(t)
	good := ended(acceptedRun(t), result.Correct)
	require.NotEmpty(t, good)

	out := m.test("-v", "-run", "^TestGSM8K$", ".")
	assert.Contains(t, out, "ok  \texample.com/m")
	for _, line := range []string{
		"gate      passed MinAccuracy", "gate      passed MaxDrop", "gate      not enough data for Baseline",
		"after 3 attempts", "judge     asked about 2 answers", "relied on: judge: canaries",
		"replayed  every answer came from a recording; no model was asked",
	} {
		assert.Contains(t, out, line)
	}
	assert.NotContains(t, out, "not asked for", "every recording is of use")
	assert.NotContains(t, m.test("-v", "-run", "^TestGSM8K$/^"+good[0]+"$", "."), "FAIL", "one item alone")
	out = m.test("-run", "^$", "-bench", "GSM8K", "-benchtime", "2x", ".")
	assert.NotContains(t, out, "not asked for", "those of the judge are the test's")
	assert.Regexp(t, `(?m)^BenchmarkGSM8K\S*\s+2\s.* accuracy-%`, out)
	m.env = append(m.env, "EVALTEST_GSM8K="+tutorialRows)
	assert.Contains(t, m.test("-run", "^TestGSM8K$", "."), "name a model to ask in EVALTEST_MODEL")
}

// TestTutorialRegresses: had more items been right in the accepted run, the
// same answers would fail the test, and name them.
func TestTutorialRegresses(t *testing.T) {
	t.Parallel()
	const n = 8 // none fixed: a p of 1 in 256, halved by mid-p
	m := newTutorial(t)
	b := acceptedRun(t)
	lost := ended(b, result.Incorrect)[:n]
	for i := range b.Items {
		if it := &b.Items[i]; slices.Contains(lost, it.ID) {
			it.Outcomes[0] = result.Correct
		}
	}
	b.Header.Counts[result.Correct] += n
	b.Header.Counts[result.Incorrect] -= n
	var text bytes.Buffer
	require.NoError(t, b.WriteGzip(&text))
	m.write(tutorialAccepted, text.String())

	out := m.test("-run", "^TestGSM8K$", ".")
	assert.Contains(t, out, "FAIL\texample.com/m")
	assert.Contains(t, out, "gate      FAILED Baseline: regressed")
	assert.Contains(t, out, "8 items that the baseline has as correct")
	for _, id := range lost[:3] {
		assert.Contains(t, out, "item      "+id+": incorrect", "what broke stands first")
	}
}

// TestTutorialForgets: if the answers that were right become wrong, the test
// fails and names them, and the run cannot be accepted by mistake.
func TestTutorialForgets(t *testing.T) {
	t.Parallel()
	m := newTutorial(t)
	good := ended(acceptedRun(t), result.Correct)
	m.write(tutorialAnswers, tampered(t, good))
	out := m.test("-run", "^TestGSM8K$", ".")
	assert.Contains(t, out, "FAIL\texample.com/m")
	assert.Contains(t, out, "gate      FAILED MaxDrop: ")
	for _, id := range good {
		assert.Contains(t, out, "item      "+id+": incorrect")
	}
	assert.Contains(t, m.test("-run", "^TestGSM8K$", ".", "-evaltest.update"), "gsm8k_sample.baseline.jsonl.gz not written: the run does not pass")
}

// tampered is the tutorial's cassette in which the answers to these items have
// the digit 7 for each digit.
func tampered(t *testing.T, ids []string) string {
	t.Helper()
	f, err := os.Open("../" + tutorialAnswers)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	changed := map[string]bool{}
	for i, line := range lines[1:] {
		var entry struct{ Item, Body string }
		var body struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if line == "" || json.Unmarshal([]byte(line), &entry) != nil || !slices.Contains(ids, entry.Item) {
			continue
		}
		require.NoError(t, json.Unmarshal([]byte(entry.Body), &body))
		content := body.Choices[0].Message.Content
		sevens := strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return '7'
			}
			return r
		}, content)
		// Twice a JSON string: in the answer's body, and that in the line.
		lines[i+1] = strings.Replace(line, twice(t, content), twice(t, sevens), 1)
		require.NotEqual(t, line, lines[i+1])
		changed[entry.Item] = true
	}
	require.Len(t, changed, len(ids))
	return strings.Join(lines, "") // a cassette need not be compressed
}

// twice is the inside of a JSON string inside of a JSON string, as the cassette
// spells it.
func twice(t *testing.T, s string) string {
	t.Helper()
	for range 2 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(s))
		s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
	}
	return s
}

// TestTutorialLive: a live model is asked with little effort and then with
// much, judged by the model that was named, and held against a baseline of its
// own only.
func TestTutorialLive(t *testing.T) {
	t.Parallel()
	ds, err := gsm8k.Load("../" + tutorialRows)
	require.NoError(t, err)
	answers := map[string]string{}
	for it := range ds.All() {
		answers[it.Input] = it.Target
	}
	thinks := func(c llmtest.Chat) bool { return string(c.Field("reasoning_effort")) == `"high"` }
	question := func(prompt string) string { q, _, _ := strings.Cut(prompt, "\nThink step by step"); return q }
	good := llmtest.Pupil{Answers: answers, Question: question, Vague: 0.1, Mumbled: 0.05, Seed: 1, Thinks: thinks}
	bad := good
	bad.Wrong = 0.2
	var wise, worse atomic.Bool // the judge, the model
	var deep atomic.Int64
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		switch {
		case c.Model == "judge" && wise.Load() && !strings.Contains(c.Last(), "Forty-four"):
			return llmtest.Reply{Text: "GRADE: I"}
		case c.Model == "judge":
			return llmtest.Reply{Text: "GRADE: C"}
		case thinks(c):
			deep.Add(1)
		default:
			assert.Equal(t, `"minimal"`, string(c.Field("reasoning_effort")))
		}
		if worse.Load() {
			return bad.Reply(c)
		}
		return good.Reply(c)
	}}
	m := newTutorial(t)
	m.env = append(m.env, "OPENAI_BASE_URL="+server.Start(t), "OPENAI_API_KEY=k", "EVALTEST_MODEL=fake", "EVALTEST_JUDGE=judge")
	args := []string{"-v", "-count=1", "-run", "^TestGSM8K$", "."}

	out := m.test(args...)
	assert.Contains(t, out, "cannot be relied on", "a judge that calls everything correct decides nothing")
	assert.Contains(t, out, "gate      FAILED MaxUngraded")
	assert.NotContains(t, out, "Baseline", "the small model's baseline is not this one's")

	wise.Store(true)
	out = m.test(args...)
	assert.Contains(t, out, "ok  \texample.com/m")
	assert.NotContains(t, out, "cannot be relied on")
	assert.NotContains(t, out, "Baseline")
	assert.Positive(t, deep.Load(), "third attempts are made with much effort")

	m.env = append(m.env, "EVALTEST_BASELINE=testdata/fake.baseline.jsonl.gz")
	assert.Contains(t, m.test(append(args, "-evaltest.update")...), "fake.baseline.jsonl.gz written")
	assert.Contains(t, m.test(args...), "gate      passed Baseline")
	worse.Store(true)
	assert.Contains(t, m.test(args...), "gate      FAILED Baseline: regressed")
}
