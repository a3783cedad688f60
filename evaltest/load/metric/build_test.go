package metric

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update, and look at what it wrote")
	assert.Equal(t, string(want), got)
}

const ms = time.Millisecond

// answered is a streamed answer: sent at due, with fragments of one token each
// at the given times, usage of as many tokens, and done with the last.
func answered(seq int, due time.Duration, at ...time.Duration) *record.Request {
	r := &record.Request{Seq: seq, Phase: record.Measured, Due: due, FirstSent: due, Sent: due, Streamed: true, Finish: "stop", Done: due}
	for _, a := range at {
		r.Fragments = append(r.Fragments, record.Fragment{At: a, Bytes: 4, Tokens: 1})
		r.Done = a
	}
	r.Usage = llm.Usage{Known: true, Input: 100, Output: int64(len(at))}
	return r
}

func failing(seq int, due, done time.Duration, class record.Class) *record.Request {
	return &record.Request{
		Seq: seq, Phase: record.Measured, Due: due, FirstSent: due, Sent: due, Done: done, Status: 429,
		Failure: &record.Failure{Class: class, Message: "slow down"},
	}
}

func meter(t testing.TB, c Config) *Meter {
	t.Helper()
	m, err := New(c)
	require.NoError(t, err)
	return m
}

func add(t testing.TB, m *Meter, list ...*record.Request) {
	t.Helper()
	for _, r := range list {
		require.NoError(t, m.Add(r))
	}
}

// number is a figure that must be there.
func must(t testing.TB, f Figure) float64 {
	t.Helper()
	v, ok := f.Get()
	require.True(t, ok, "absent")
	return v
}

const exactly = 1e-9 // relative
