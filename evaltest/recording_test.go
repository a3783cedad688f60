package evaltest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

func init() {
	ask := func() evaltest.Strategy {
		server := &llmtest.Server{Key: "right", Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "A capital"} }}
		model := openai.Config{Model: "fake", BaseURL: "http://127.0.0.1/v1", KeyEnv: "CHILD_KEY", HTTPClient: server.Client()}.New()
		return evaltest.Ask(model, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
	}
	opts := func() evaltest.Option {
		return evaltest.Options(exact, evaltest.Cassette(os.Getenv("CHILD_CASSETTE")), evaltest.MinAccuracy(0))
	}
	scenarios["recording"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 3), ask(), opts()) }
	scenarios["replaying less"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 2), ask(), opts()) }
	benchScenarios["replaying less"] = func(b *testing.B) { evaltest.Benchmark(b, capitals(b, 2), ask(), opts()) }
}

// TestUnusedRecordings: a benchmark leaves out what a test of the same cassette
// asks for, such as the judge, and drops nothing. A test does not know either
// whose they are.
func TestUnusedRecordings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "calls.jsonl.gz")
	recorded := newChild(t, "recording", "-evaltest.cassette=record").with("CHILD_CASSETTE", path).with("CHILD_KEY", "right").run()
	require.Equal(t, 0, recorded.code, recorded.out.String())
	for name, c := range map[string]*child{
		"test":      newChild(t, "replaying less", "-test.v"),
		"benchmark": newBenchChild(t, "replaying less", "-test.v", "-test.benchtime=2x"),
	} {
		c.with("CHILD_CASSETTE", path).run()
		require.Equal(t, 0, c.code, c.out.String())
		out := strings.Join(strings.Fields(c.out.String()), " ")
		if name == "benchmark" {
			assert.NotContains(t, out, "not asked for")
			continue
		}
		assert.Contains(t, out, "1 recording of cassette "+path+" was not asked for here, such as line ")
		assert.Contains(t, out, `; if no other test or benchmark needs it, record again to drop it (EVALTEST_CASSETTE=record)`)
	}
}

// TestRecordingResumed: a recording that failed leaves nothing that holds
// nothing, and the command that it prints goes on with it.
func TestRecordingResumed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, reason string
		env, flags   []string
		want         string
	}{
		{"by the environment", "a variable that was set for one command is gone in the next", []string{"EVALTEST_CASSETTE=record"}, nil, "-evaltest.cassette=record"},
		{"auto", "the mode that it was", []string{"EVALTEST_CASSETTE=auto"}, nil, "-evaltest.cassette=auto"},
		{"by a flag", "it stands there once", nil, []string{"-evaltest.cassette=record"}, "-evaltest.cassette=record"},
		{"by both", "the flag counts", []string{"EVALTEST_CASSETTE=off"}, []string{"-evaltest.cassette=record"}, "-evaltest.cassette=record"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "calls.jsonl.gz")
			child := func(key string, args ...string) *child {
				c := newChild(t, "recording", args...).with("CHILD_CASSETTE", path).with("CHILD_KEY", key)
				for _, e := range row.env {
					name, value, _ := strings.Cut(e, "=")
					c.with(name, value)
				}
				return c
			}
			c := child("wrong", row.flags...).run()
			require.Equal(t, 1, c.code, c.out.String())
			assert.Empty(t, files(t, filepath.Dir(path)), "nothing was recorded")
			line := regexp.MustCompile(`resume +go test .*`).FindString(c.out.String())
			require.NotEmpty(t, line, c.out.String())
			assert.Equal(t, 1, strings.Count(line, "-evaltest.cassette="), "%s: %s", row.reason, line)
			assert.Contains(t, line, " "+row.want+" ", row.reason)

			printed := regexp.MustCompile(`-evaltest\.\S+`).FindAllString(line, -1)
			row.env = nil // as printed, in another shell
			again := child("right", printed...).at(c.dir).run()
			require.Equal(t, 0, again.code, again.out.String())
			assert.Equal(t, []string{"calls.jsonl.gz"}, files(t, filepath.Dir(path)), "and no .part")
			assert.Equal(t, 0, child("wrong").run().code, "it replays")
		})
	}
}

// files are the names in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
