package cassette_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// rig is a server, a client of it and a cassette file.
type rig struct {
	t      *testing.T
	path   string
	server *llmtest.Server
	client *openai.Client
}

func newRig(t *testing.T, name string, reply func(llmtest.Chat) llmtest.Reply) *rig {
	s := &llmtest.Server{Reply: reply}
	return &rig{t: t, path: filepath.Join(t.TempDir(), name), server: s,
		client: openai.Config{Model: "m", BaseURL: "http://127.0.0.1:1234/v1", HTTPClient: s.Client()}.New()}
}

// counting answers each call with its number and the question.
func counting(c llmtest.Chat) llmtest.Reply {
	return llmtest.Reply{Text: fmt.Sprintf("%s #%d", c.Last(), c.N)}
}

func (r *rig) open(o cassette.Options) *cassette.Cassette {
	r.t.Helper()
	c, err := cassette.Open(r.path, o)
	require.NoError(r.t, err)
	return c
}

func (r *rig) close(c *cassette.Cassette) {
	r.t.Helper()
	require.NoError(r.t, c.Close())
}

// under is the context of an item whose calls go through c.
func under(ctx context.Context, c *cassette.Cassette, item string) context.Context {
	ctx = wire.WithMiddleware(ctx, c)
	if item != "" {
		ctx = llm.WithItem(ctx, item)
	}
	return ctx
}

func (r *rig) ask(ctx context.Context, text string) (llm.Response, error) {
	return r.client.Generate(ctx, llm.Prompt(text))
}

func (r *rig) mustAsk(ctx context.Context, text string) string {
	r.t.Helper()
	resp, err := r.ask(ctx, text)
	require.NoError(r.t, err)
	return resp.Text
}

func TestRecordAndReplay(t *testing.T) {
	for _, name := range []string{"c.jsonl", "c.jsonl.gz", "C.JSONL.GZ"} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " stream=", stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, name, func(llmtest.Chat) llmtest.Reply {
						return llmtest.Reply{Text: "It is 18 é.", Reasoning: "hm", FirstToken: time.Second, PerToken: 10 * time.Millisecond}
					})
					req := llm.Prompt("6*3?")
					req.Stream = stream
					c := r.open(cassette.Options{Mode: cassette.Record})
					want, err := r.client.Generate(under(t.Context(), c, "a"), req)
					require.NoError(t, err)
					assert.False(t, want.Replayed)
					assert.Equal(t, cassette.Stats{Entries: 1, Recorded: 1}, c.Stats())
					r.close(c)
					r.close(c)
					b, err := os.ReadFile(r.path)
					require.NoError(t, err)
					assert.Equal(t, strings.HasSuffix(strings.ToLower(name), ".gz"), b[0] == 0x1f)

					c = r.open(cassette.Options{})
					start := time.Now()
					got, err := r.client.Generate(under(t.Context(), c, "a"), req)
					require.NoError(t, err)
					assert.Zero(t, time.Since(start), "a replay does not sleep")
					assert.Equal(t, 1, r.server.Counts().Calls, "the server is not asked")
					assert.True(t, got.Replayed)
					assert.Equal(t, want.Timing.FirstToken, got.Timing.FirstToken)
					assert.Equal(t, want.Timing.Total, got.Timing.Total)
					assert.Equal(t, 1050*time.Millisecond-10*time.Millisecond, got.Timing.Total)
					got.Replayed, got.Timing = want.Replayed, want.Timing
					assert.Equal(t, want, got)
					assert.Equal(t, cassette.Stats{Entries: 1, Replayed: 1}, c.Stats())
					assert.Empty(t, c.Unused())
					r.close(c)
					files, err := os.ReadDir(filepath.Dir(r.path))
					require.NoError(t, err)
					assert.Len(t, files, 1, "nothing is left beside the file")
				})
			})
		}
	}
}

func TestHostAndKeyDoNotCount(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	r.mustAsk(under(t.Context(), c, "a"), "q")
	r.close(c)
	t.Setenv("OPENAI_API_KEY", "")
	elsewhere := openai.Config{Model: "m", BaseURL: "https://api.example.com/v1"}.New()
	c = r.open(cassette.Options{})
	resp, err := elsewhere.Generate(under(t.Context(), c, "a"), llm.Prompt("q"))
	require.NoError(t, err, "another host, and no key")
	assert.Equal(t, "q #1", resp.Text)
	c, err = cassette.Open(r.path, cassette.Options{Host: true})
	require.NoError(t, err)
	_, err = elsewhere.Generate(under(t.Context(), c, "a"), llm.Prompt("q"))
	require.ErrorIs(t, err, cassette.ErrMiss, "unless it is asked to count")
	require.ErrorContains(t, err, "the host is")
}

func TestAutoAsksOnlyWhatChanged(t *testing.T) {
	r := newRig(t, "c.jsonl.gz", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	for _, q := range []string{"a", "b", "c"} {
		r.mustAsk(under(t.Context(), c, q), q)
	}
	r.close(c)
	before, err := os.ReadFile(r.path)
	require.NoError(t, err)

	c = r.open(cassette.Options{Mode: cassette.Auto})
	for _, q := range []string{"a", "b", "c"} {
		r.mustAsk(under(t.Context(), c, q), q)
	}
	assert.Equal(t, 3, r.server.Counts().Calls, "all is known")
	r.close(c)
	after, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing new, nothing written")

	c = r.open(cassette.Options{Mode: cassette.Auto})
	assert.Equal(t, "a #1", r.mustAsk(under(t.Context(), c, "a"), "a"))
	assert.Equal(t, "B #4", r.mustAsk(under(t.Context(), c, "b"), "B"))
	assert.Equal(t, "B #4", r.mustAsk(under(t.Context(), c, "b"), "B"), "recorded now")
	require.Len(t, c.Unused(), 2)
	r.close(c)
	c = r.open(cassette.Options{})
	assert.Equal(t, 4, c.Stats().Entries, "what a narrowed run did not ask stays")
	assert.Equal(t, "B #4", r.mustAsk(under(t.Context(), c, "b"), "B"))
}

func TestAutoLeavesTheFileIfNothingCouldBeRecorded(t *testing.T) {
	r := newRig(t, "c.jsonl", func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Raw: llmtest.Status(500, `{}`)} })
	content := `{"evals_cassette": 1}` + "\n" +
		`{"status":200, "path":"/x", "method":"POST", "body":"y", "total_ms":1}` + "\n" // not as Close would write it
	require.NoError(t, os.WriteFile(r.path, []byte(content), 0o600))
	c := r.open(cassette.Options{Mode: cassette.Auto})
	_, err := r.ask(under(t.Context(), c, "a"), "q")
	require.Error(t, err)
	r.close(c)
	b, err := os.ReadFile(r.path)
	require.NoError(t, err)
	assert.Equal(t, content, string(b))
	_, err = os.Stat(r.path + ".part")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestRecordAsksEverythingAnew(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	for _, want := range []string{"a #1", "a #2"} {
		c := r.open(cassette.Options{Mode: cassette.Record})
		assert.Equal(t, want, r.mustAsk(under(t.Context(), c, "a"), "a"))
		r.close(c)
	}
	c := r.open(cassette.Options{})
	assert.Equal(t, "a #2", r.mustAsk(under(t.Context(), c, "a"), "a"))
}

func TestNarrowedRecordKeepsTheOthers(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	r.mustAsk(under(t.Context(), c, "a"), "a")
	r.mustAsk(under(t.Context(), c, "a"), "a, second prompt")
	r.mustAsk(under(t.Context(), c, "b"), "b")
	r.close(c)
	c = r.open(cassette.Options{Mode: cassette.Record})
	assert.Equal(t, "a #4", r.mustAsk(under(t.Context(), c, "a"), "a"))
	r.close(c)
	c = r.open(cassette.Options{})
	assert.Equal(t, 2, c.Stats().Entries, "what item a asked before is gone, what b asked stays")
	assert.Equal(t, "a #4", r.mustAsk(under(t.Context(), c, "a"), "a"))
	assert.Equal(t, "b #3", r.mustAsk(under(t.Context(), c, "b"), "b"))
}

func TestEqualFilesForEqualRuns(t *testing.T) {
	var files []string
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "c.jsonl", func(c llmtest.Chat) llmtest.Reply {
				return llmtest.Reply{Raw: llmtest.Stream(llmtest.Text(c.Last()), llmtest.Finish("stop"))}
			})
			c := r.open(cassette.Options{Mode: cassette.Record})
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() { _, _ = r.ask(under(t.Context(), c, fmt.Sprint("item", i)), fmt.Sprint(i)) })
			}
			wg.Wait()
			r.close(c)
			b, err := os.ReadFile(r.path)
			require.NoError(t, err)
			files = append(files, string(b))
		})
	}
	assert.True(t, files[0] == files[1], "the order of entries does not depend on the scheduler")
}

func TestOccurrences(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	a, b := under(t.Context(), c, "a"), under(t.Context(), c, "b")
	// Two items make the same request, twice each, interleaved.
	got := []string{r.mustAsk(a, "q"), r.mustAsk(b, "q"), r.mustAsk(b, "q"), r.mustAsk(a, "q")}
	assert.Equal(t, []string{"q #1", "q #1", "q #2", "q #2"}, got, "the n-th of one item is the n-th of another")
	r.close(c)

	c = r.open(cassette.Options{})
	a, b = under(t.Context(), c, "a"), under(t.Context(), c, "b")
	got = []string{r.mustAsk(b, "q"), r.mustAsk(b, "q"), r.mustAsk(a, "q"), r.mustAsk(a, "q")}
	assert.Equal(t, []string{"q #1", "q #2", "q #1", "q #2"}, got, "another order of items changes nothing")
	_, err := r.ask(a, "q")
	require.ErrorIs(t, err, cassette.ErrMiss, "a third time was not recorded")
	require.ErrorContains(t, err, "recorded twice for sample 0; the item asked it once more")
	require.ErrorContains(t, err, "recorded twice")
	assert.Equal(t, "q #1", r.mustAsk(under(t.Context(), c, "a"), "q"), "the item run again begins again")
	bare := under(t.Context(), c, "")
	assert.Equal(t, "q #1", r.mustAsk(bare, "q"))
	assert.Equal(t, "q #1", r.mustAsk(bare, "q"), "without an item every request is the first")
}

func TestSamples(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	ctx := func(c *cassette.Cassette, k int) context.Context {
		return under(llm.WithSample(t.Context(), k), c, "a")
	}
	for k := range 3 {
		assert.Equal(t, fmt.Sprintf("q #%d", k+1), r.mustAsk(ctx(c, k), "q"))
	}
	r.close(c)
	c = r.open(cassette.Options{})
	for _, k := range []int{2, 0, 1} {
		assert.Equal(t, fmt.Sprintf("q #%d", k+1), r.mustAsk(ctx(c, k), "q"))
	}
	_, err := r.ask(ctx(c, 3), "q")
	require.ErrorIs(t, err, cassette.ErrMiss)
	require.ErrorContains(t, err, "the same request, but recorded for sample")
}

func TestFailedCallsTakeNoOccurrence(t *testing.T) {
	r := newRig(t, "c.jsonl", func(c llmtest.Chat) llmtest.Reply {
		if c.N == 1 {
			return llmtest.Reply{Raw: llmtest.Status(503, `{}`)}
		}
		return counting(c)
	})
	c := r.open(cassette.Options{Mode: cassette.Record})
	ctx := under(t.Context(), c, "a")
	_, err := r.ask(ctx, "q")
	require.Error(t, err)
	assert.Equal(t, "q #2", r.mustAsk(ctx, "q"), "the try after the failure")
	assert.Equal(t, cassette.Stats{Entries: 1, Recorded: 1, Skipped: 1}, c.Stats())
	r.close(c)
	c = r.open(cassette.Options{})
	assert.Equal(t, "q #2", r.mustAsk(under(t.Context(), c, "a"), "q"), "is the first one of a replay")
}

func TestConcurrentEqualRequestsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "c.jsonl", func(c llmtest.Chat) llmtest.Reply {
			reply := counting(c)
			reply.FirstToken = time.Second
			return reply
		})
		c := r.open(cassette.Options{Mode: cassette.Record})
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				resp, err := r.ask(under(t.Context(), c, fmt.Sprint(i)), "q")
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				got[fmt.Sprint(resp.Text, resp.Replayed)]++
			})
		}
		wg.Wait()
		assert.Equal(t, map[string]int{"q #1false": 1, "q #1true": 49}, got, "one is billed, the others wait for it")
		r.close(c)
	})
}

func TestWaitersGoOnAfterAFailedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "c.jsonl", func(c llmtest.Chat) llmtest.Reply {
			reply := counting(c)
			reply.FirstToken = time.Second
			return reply
		})
		c := r.open(cassette.Options{Mode: cassette.Record})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := r.ask(under(ctx, c, "leader"), "q")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		short, cancel2 := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel2()
		_, err := r.ask(under(short, c, "impatient"), "q")
		require.ErrorIs(t, err, context.DeadlineExceeded, "a waiter's own deadline counts")
		assert.Equal(t, "q #2", r.mustAsk(under(t.Context(), c, "waiter"), "q"))
		wg.Wait()
		r.close(c)
	})
}

func TestWhatIsNotStored(t *testing.T) {
	text, stop := llmtest.Text("18"), llmtest.Finish("stop")
	rows := []struct {
		name, reason string
		stream       bool
		raw          http.HandlerFunc
		stored, all  bool // all: with Options.Failures
	}{
		{"answer", "what a run needs again", true, llmtest.Stream(text, stop, llmtest.Done), true, true},
		{"no DONE", "C04: whole all the same", true, llmtest.Stream(text, stop), true, true},
		{"content filter", "a refusal of the request is its answer", false, llmtest.Status(400, `{"error":{"code":"content_filter"}}`), true, true},
		{"unprocessable", "the same request would be refused again", false, llmtest.Status(422, `{}`), true, true},
		{"429", "another try heals it", false, llmtest.Status(429, `{}`), false, true},
		{"500", "another try may pass, which a replay would hide", false, llmtest.Status(500, `{}`), false, true},
		{"529", "another try may pass, which a replay would hide", false, llmtest.Status(529, `{}`), false, true},
		{"408", "another try may pass, which a replay would hide", false, llmtest.Status(408, `{}`), false, true},
		{"401", "the next key may do", false, llmtest.Status(401, `{}`), false, true},
		{"404", "a typing mistake is no recording", false, llmtest.Status(404, `{}`), false, true},
		{"cut stream", "C03: half an answer", true, llmtest.Stream(text), false, true},
		{"reset", "the body never ended", true, llmtest.Reset(text), false, false},
		{"error in 200", "C01", true, llmtest.Stream("data: {\"error\":{\"message\":\"overloaded\"}}\n\n", llmtest.Done), false, true},
		{"error in unary 200", "C01", false, llmtest.Status(200, `{"error":{"message":"m"}}`), false, true},
		{"page in a 200", "a gateway's trouble passes", false, llmtest.HTML(200, "<h1>no</h1>"), false, true},
		{"empty 200", "a replay would fail for ever", false, llmtest.Status(200, ""), false, true},
		{"no JSON in a 200", "a replay would fail for ever", false, llmtest.Status(200, "upstream"), false, true},
		{"reset before the answer", "there is nothing to keep", false, llmtest.Reset(), false, false},
	}
	for _, r := range rows {
		for _, failures := range []bool{false, true} {
			t.Run(fmt.Sprint(r.name, " failures=", failures), func(t *testing.T) {
				rig := newRig(t, "c.jsonl", func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Raw: r.raw} })
				c := rig.open(cassette.Options{Mode: cassette.Record, Failures: failures})
				req := llm.Prompt("q")
				req.Stream = r.stream
				_, live := rig.client.Generate(under(t.Context(), c, "a"), req)
				want := r.stored
				if failures {
					want = r.all
				}
				assert.Equal(t, want, c.Stats().Recorded == 1, r.reason)
				rig.close(c)
				if !want {
					return
				}
				c = rig.open(cassette.Options{})
				_, replayed := rig.client.Generate(under(t.Context(), c, "a"), req)
				assert.Equal(t, fmt.Sprint(live), fmt.Sprint(replayed), "the failure is replayed as it was")
			})
		}
	}
}

func TestIgnore(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	ask := func(c *cassette.Cassette, user string) error {
		req := llm.Prompt("q")
		req.Extra = map[string]json.RawMessage{"user": json.RawMessage(`"` + user + `"`)}
		_, err := r.client.Generate(under(t.Context(), c, "a"), req)
		return err
	}
	require.NoError(t, ask(c, "u1"))
	r.close(c)
	require.ErrorIs(t, ask(r.open(cassette.Options{}), "u2"), cassette.ErrMiss)
	require.NoError(t, ask(r.open(cassette.Options{Ignore: []string{"user"}}), "u2"), "no new recording is needed to ignore a field")
}

func TestClosed(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	r.close(c)
	_, err := r.ask(under(t.Context(), c, "a"), "q")
	require.ErrorContains(t, err, "closed")
}

func TestReplayWritesNothing(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	r.mustAsk(under(t.Context(), c, "a"), "q")
	r.close(c)
	dir := filepath.Dir(r.path)
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Auto} {
		c = r.open(cassette.Options{Mode: mode})
		r.mustAsk(under(t.Context(), c, "a"), "q")
		require.NoError(t, c.Close(), "mode %s in a folder that cannot be written", mode)
	}
}

func TestLock(t *testing.T) {
	r := newRig(t, "c.jsonl", counting)
	c := r.open(cassette.Options{Mode: cassette.Record})
	for _, mode := range []cassette.Mode{cassette.Record, cassette.Auto} {
		_, err := cassette.Open(r.path, cassette.Options{Mode: mode})
		require.ErrorIs(t, err, cassette.ErrLocked)
	}
	r.mustAsk(under(t.Context(), c, "a"), "q")
	r.close(c)
	c = r.open(cassette.Options{Mode: cassette.Auto})
	d := r.open(cassette.Options{Mode: cassette.Auto})
	r.mustAsk(under(t.Context(), c, "a"), "new")
	_, err := r.ask(under(t.Context(), d, "a"), "other")
	require.ErrorIs(t, err, cassette.ErrLocked, "Auto locks when it first has to ask")
	assert.False(t, llm.KindOf(err).Retryable(), "asking again would fail again")
	r.close(d)
	r.close(c)
	r.close(r.open(cassette.Options{Mode: cassette.Record}))
}
