package llmtest

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// TestSuiteCatches breaks one promise at a time: the check that is named must
// see it, and no other may but those in also.
func TestSuiteCatches(t *testing.T) {
	release = make(chan struct{})
	defer close(release)
	for _, c := range wrongModels {
		t.Run(c.name, func(t *testing.T) {
			s := Suite{Deterministic: true, Streams: true}
			for _, ck := range s.checks() {
				err := ck.check(s.prober(t.Context()), spoiled{echoing(), c.spoil})
				switch {
				case ck.name == c.check:
					require.ErrorContains(t, err, c.want)
				case !slices.Contains(c.also, ck.name):
					assert.NoError(t, err, "the check %q is not meant to see it", ck.name)
				}
			}
		})
	}
}

// TestFaultSuiteCatches breaks what a client makes of one fault, and looks for
// the words in which the suite tells it.
func TestFaultSuiteCatches(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	for _, c := range wrongClients {
		t.Run(c.name, func(t *testing.T) {
			runs := faultRuns()
			i := slices.IndexFunc(runs, func(r faultRun) bool { return r.name == c.check })
			require.GreaterOrEqual(t, i, 0, "no check is called %q", c.check)
			synctest.Test(t, func(t *testing.T) {
				assert.NoError(t, runs[i].run(Suite{NewOn: func(_ *testing.T, s *Server) llm.Model { return good(s) }}, t), "of a client that is right")
				assert.ErrorContains(t, runs[i].run(Suite{NewOn: c.model, Streams: true}, t), c.want)
			})
		})
	}
}

// TestSuiteTakesUnusualModels: what is right in an unusual way passes.
func TestSuiteTakesUnusualModels(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	for _, c := range unusualModels {
		t.Run(c.name, func(t *testing.T) {
			on := func(m llm.Model) llm.Model {
				return llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) { return c.spoil(ctx, req, m) })
			}
			s := Suite{New: func(*testing.T) llm.Model { m := echoing(); m.Log = false; return on(m) }, Deterministic: true}
			if !c.fake {
				s.NewOn = func(_ *testing.T, s *Server) llm.Model { return on(good(s)) }
			}
			s.Run(t)
		})
	}
}

// TestSuiteCatchesWhatNeverReturns: all checks meet these.
func TestSuiteCatchesWhatNeverReturns(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		want  string
		model llm.ModelFunc
	}{
		"panics": {"Generate panicked: oh; want an error", func(context.Context, llm.Request) (llm.Response, error) { panic("oh") }},
		"goexit": {"runtime.Goexit", func(context.Context, llm.Request) (llm.Response, error) {
			runtime.Goexit()
			return llm.Response{}, nil
		}},
		"hangs": {"still runs 1ms after its context's end", func(context.Context, llm.Request) (llm.Response, error) {
			<-release
			return llm.Response{}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Suite{Deterministic: true, Grace: time.Millisecond}
			for _, ck := range s.checks() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // instead of suiteTimeout
				defer cancel()
				require.ErrorContains(t, ck.check(s.prober(ctx), c.model), c.want, ck.name)
			}
		})
	}
}

func TestSuiteTakesTheScriptedModel(t *testing.T) {
	Suite{New: func(*testing.T) llm.Model { return echoing() }, Deterministic: true, Streams: true}.Run(t)
}

// TestRunFails runs the suite on a broken Model in a process of its own.
func TestRunFails(t *testing.T) {
	const env = "LLMTEST_BROKEN"
	if os.Getenv(env) != "" {
		Run(t, func(*testing.T) llm.Model {
			return spoiled{echoing(), edit(false, func(r *llm.Response) { r.Finish = "STOP"; r.Text = "" })}
		})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunFails$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.Contains(t, string(out), "--- FAIL: TestRunFails/answers")
	assert.Contains(t, string(out), "--- PASS: TestRunFails/streams")
	assert.Equal(t, 2, strings.Count(string(out), "suite_catch_test.go:"), "each finding on its own, at the user's line:\n%s", out)
}

func TestSuiteRefuses(t *testing.T) {
	one := func(*testing.T) llm.Model { return new(Model) }
	assert.PanicsWithValue(t, "llmtest: a Suite needs New or NewOn: a function that returns the Model", func() { Suite{}.Run(t) })
	assert.PanicsWithValue(t, "llmtest: Suite.Tries is -1; it must be at least 1, or 0 for the default of 1", func() { Suite{New: one, Tries: -1}.Run(t) })
	assert.PanicsWithValue(t, "llmtest: Suite.Grace is -1s; it must be positive, or 0 for the default of 5 s", func() { Suite{New: one, Grace: -time.Second}.Run(t) })
}
