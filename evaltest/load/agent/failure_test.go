package agent

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

func TestFailureEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink memory
		s := &server{latency: uneven, fault: func(c *Call) *record.Failure {
			if c.Agent == 1 && c.Turn == 1 {
				return &record.Failure{Class: record.Server, Message: "500"}
			}
			return nil
		}}
		cfg := config()
		cfg.MaxActive, cfg.Sink = 1, &sink
		res, err := Run(t.Context(), plans(t, Replay{}, golden4...), cfg, s)
		require.NoError(t, err, "one session's failure is not the run's")
		balanced(t, res)
		e := res.Trajectories[1]
		assert.Equal(t, Failed, e.End)
		assert.Equal(t, [5]int{3, 1, 1, 0, 1}, [5]int{e.Planned, e.Succeeded, e.Failed, e.Unbuilt, e.NotAttempted})
		assert.EqualError(t, e.Err, "request 2: server: 500")
		assert.Equal(t, [2]int{2, 1}, [2]int{res.Completed, res.Failed})
		assert.Len(t, s.asked, 6)
	})
}

func TestReplyThatCannotBeAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, message := range []string{"", "null", `"text"`, `[1]`, `{"content":`} {
			res, err := Run(t.Context(), plans(t, Replay{}, golden4...), config(), CallerFunc(func(context.Context, *Call, *record.Request) []byte { return []byte(message) }))
			require.NoError(t, err)
			balanced(t, res)
			e := res.Trajectories[0]
			require.ErrorIs(t, e.Err, ErrReply, message)
			assert.ErrorContains(t, e.Err, "request 1: ")
			assert.ErrorContains(t, e.Err, "failed to append model response")
			assert.Equal(t, [3]int{1, 0, 1}, [3]int{e.Succeeded, e.Failed, e.NotAttempted}, "the request itself was answered")
			assert.Equal(t, Completed, res.Trajectories[2].End, "after a reset nothing is appended")
		}
	})
}

func TestTextFailsItsOwnTrajectory(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		make         func() (string, error)
		says         string
	}{
		{"error", "the Text says so", func() (string, error) { return "", errors.New("no exact text") }, "no exact text"},
		{"panic", "a Text is the user's", func() (string, error) { panic("index out of range") }, "index out of range"},
		{"not UTF-8", "JSON would change it", func() (string, error) { return "\xff", nil }, "UTF-8"},
		{"Goexit", "a FailNow in a Text", func() (string, error) { runtime.Goexit(); return "", nil }, "Goexit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, n := range []int{512, 448 - 256 - 64, 384} { // a first prompt, a tool's answer, a reset
					var sink memory
					cfg := config()
					cfg.Sink = &sink
					cfg.Text = makeFunc(func(r *rand.Rand, want int) (string, error) {
						if want == n {
							return row.make()
						}
						return words{}.Make(r, want)
					})
					res, err := Run(t.Context(), plans(t, Replay{}, golden4...), cfg, &server{latency: uneven})
					require.NoError(t, err)
					balanced(t, res)
					assert.Equal(t, [3]int{2, 1, 1}, [3]int{res.Completed, res.Failed, res.Unbuilt}, row.reason)
					at := slices.IndexFunc(sink.requests, func(r *record.Request) bool { return !r.OK() })
					bad := sink.requests[at]
					assert.Equal(t, record.Build, bad.Failure.Class)
					assert.Contains(t, bad.Failure.Message, row.says)
					assert.Zero(t, bad.Sent)
					e := res.Trajectories[slices.IndexFunc(res.Trajectories, func(e *Event) bool { return e.End == Failed })]
					assert.ErrorIs(t, e.Err, ErrText)
				}
			})
		})
	}
}

func TestBrokenCaller(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		call         func(c *Call, rec *record.Request)
		says         string
	}{
		{"panic", "one bad reply must not end all sessions", func(*Call, *record.Request) { panic("nil map") }, "the Caller panicked: nil map"},
		{"Goexit", "a FailNow in a fake", func(*Call, *record.Request) { runtime.Goexit() }, "runtime.Goexit"},
		{"wall clock", "times count from Call.Start", func(_ *Call, rec *record.Request) { rec.Done = time.Duration(time.Now().UnixNano()) }, "it must count from Call.Start"},
		{"backwards", "done before sent", func(_ *Call, rec *record.Request) {
			time.Sleep(time.Second) // virtual
			rec.Sent, rec.Done = 5, 3
		}, "it must count from Call.Start"},
		{"before the start", "sent before the run", func(_ *Call, rec *record.Request) { rec.Sent, rec.Done = -2, -1 }, "it must count from Call.Start"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := config()
				cfg.MaxInFlight = 1
				res, err := Run(t.Context(), plans(t, Replay{}, golden4...), cfg, CallerFunc(func(_ context.Context, c *Call, rec *record.Request) []byte {
					if c.Agent == 1 {
						row.call(c, rec)
					}
					return []byte(`{"content":"x"}`)
				}))
				require.NoError(t, err)
				assert.Equal(t, [2]int{2, 1}, [2]int{res.Completed, res.Failed}, row.reason)
				assert.ErrorContains(t, res.Trajectories[1].Err, row.says)
			})
		})
	}
}

type badSink struct{ after int }

func (b *badSink) Request(*record.Request) error {
	if b.after--; b.after < 0 {
		return errors.New("disk full")
	}
	return nil
}

func (b *badSink) Trajectory(*Event) error { panic("a row of no kind") }

func TestSinkEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		for after, says := range map[int]string{1: "disk full", 100: "a row of no kind"} {
			cfg.Sink, cfg.MaxActive = &badSink{after}, 1
			s := &server{latency: uneven}
			res, err := Run(t.Context(), plans(t, Replay{}, golden4...), cfg, s)
			require.ErrorContains(t, err, says)
			require.NotNil(t, res)
			assert.Less(t, len(s.asked), 7, "what is not kept need not be sent")
		}
	})
}

func TestConfigRefused(t *testing.T) {
	p := plans(t, Replay{}, golden4...)
	for _, row := range []struct {
		name, reason string
		change       func(*Config)
		says         string
	}{
		{"no text", "it is needed", func(c *Config) { c.Text = nil }, "Config.Text"},
		{"no model", "it is needed", func(c *Config) { c.Body.Model = "" }, "Body.Model"},
		{"model", "it must survive JSON", func(c *Config) { c.Body.Model = "\xff" }, "UTF-8"},
		{"negative active", "a flag's value", func(c *Config) { c.MaxActive = -1 }, "Config.MaxActive is -1"},
		{"negative in flight", "a flag's value", func(c *Config) { c.MaxInFlight = -1 }, "Config.MaxInFlight is -1"},
		{"negative ranks", "a flag's value", func(c *Config) { c.Ranks = -8 }, "Config.Ranks is -8"},
		{"admission", "there are two", func(c *Config) { c.Admission = 7 }, "Admission is 7"},
		{"replies", "there are two", func(c *Config) { c.Replies = 7 }, "Replies is 7"},
		{"prefix", "a header would be forged", func(c *Config) { c.Tags.Prefix = "a\r\nX: y" }, `user prefix "a\r\nX: y"`},
		{"long prefix", "a header has a limit", func(c *Config) { c.Tags.Prefix = strings.Repeat("a", 201) }, "201 bytes"},
		{"own field", "two max_tokens in one body", func(c *Config) { c.Body.Extra = map[string]jsontext.Value{"max_tokens": jsontext.Value("1")} }, `"max_tokens"`},
		{"bad extra", "it is not JSON", func(c *Config) { c.Body.Extra = map[string]jsontext.Value{"x": jsontext.Value("{")} }, `field "x"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			cfg := config()
			row.change(&cfg)
			_, err := Run(t.Context(), p, cfg, &server{})
			require.ErrorIs(t, err, ErrConfig, row.reason)
			assert.Contains(t, err.Error(), row.says)
			assert.ErrorIs(t, DryRun(t.Context(), &bytes.Buffer{}, p, cfg), ErrConfig)
		})
	}
	_, err := Run(t.Context(), &Plans{}, config(), &server{})
	require.ErrorIs(t, err, ErrEmpty)
	_, err = Run(t.Context(), &Plans{List: []*Plan{{}}}, config(), &server{})
	require.ErrorIs(t, err, ErrEmpty)
	assert.Panics(t, func() { Run(t.Context(), p, config(), nil) })
}
