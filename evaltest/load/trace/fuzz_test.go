package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/trace"
)

var sentinels = []error{
	trace.ErrKind, trace.ErrSyntax, trace.ErrColumn, trace.ErrValue, trace.ErrLineTooLong, trace.ErrTruncated,
	trace.ErrCorrupt, trace.ErrEmpty, trace.ErrOption, trace.ErrNoTimes, trace.ErrNoLengths, trace.ErrNoText,
}

func known(err error) bool {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// fuzz reads hostile files of one kind: each gives a known error, or rows
// that hold what Row promises and a plan that agent takes.
func fuzz(f *testing.F, kind trace.Kind, samples ...string) {
	for _, name := range samples {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, keep bool) {
		o := trace.Options{Kind: kind, Count: words, MaxLine: 1 << 20}
		if keep {
			o.NoOutput = trace.KeepAsOne
		}
		tr, err := trace.Read(bytes.NewReader(text), "in", o)
		var streamed trace.Report
		n := 0
		var last error
		for _, err := range trace.Stream(bytes.NewReader(text), "in", o, &streamed) {
			if last = err; err == nil {
				n++
			}
		}
		if err != nil {
			require.True(t, known(err), "%v", err)
			require.Less(t, len(err.Error()), 2000)
			return
		}
		if last == nil { // a span that is too long only shows in one order
			require.Equal(t, tr.Len(), n)
		}
		checkTrace(t, tr)
	})
}

func checkTrace(t *testing.T, tr *trace.Trace) {
	turns := map[string]int{}
	for r := range tr.Rows() {
		require.GreaterOrEqual(t, r.At, trace.Row{}.At)
		require.GreaterOrEqual(t, r.Delay, trace.Row{}.Delay)
		require.Positive(t, r.Input)
		require.Positive(t, r.Output)
		require.Positive(t, r.Line)
		if r.Session != "" {
			require.Equal(t, turns[r.Session], r.Turn)
			turns[r.Session]++
		}
	}
	rep := tr.Report()
	require.Equal(t, rep.Sessions, len(turns))
	require.LessOrEqual(t, rep.Cacheable, rep.Input)
	require.True(t, utf8.ValidString(rep.String()))
	_, err := json.Marshal(rep)
	require.NoError(t, err)
	if offsets, err := tr.Offsets(1); err == nil {
		require.IsNonDecreasing(t, offsets)
	}
	for _, each := range []bool{false, true} {
		plan, planned, err := tr.Plan(trace.PlanOptions{EachBlock: each})
		require.NoError(t, err)
		require.Equal(t, tr.Len(), planned.Requests)
		var b bytes.Buffer
		require.NoError(t, agent.Write(&b, plan))
		m, err := agent.Read(&b, "manifest")
		require.NoError(t, err)
		_, err = agent.Compile(m, agent.Replay{})
		require.NoError(t, err)
	}
}

func FuzzMooncake(f *testing.F) {
	f.Add([]byte(`{"session_id":"a","input_length":2147483648,"output_length":2147483648}`+"\n"+`{"session_id":"a","timestamp":4e12,"input_length":1,"output_length":1}`), true)
	fuzz(f, trace.Mooncake, "mooncake.jsonl", "mooncake-sessions.jsonl", "mooncake-text.jsonl")
}
func FuzzBailian(f *testing.F)  { fuzz(f, trace.Bailian, "bailian.jsonl") }
func FuzzAzure(f *testing.F)    { fuzz(f, trace.Azure, "azure-2023.csv", "azure-2024.csv") }
func FuzzBurst(f *testing.F)    { fuzz(f, trace.BurstGPT, "burst-old.csv", "burst-new.csv") }
func FuzzShareGPT(f *testing.F) { fuzz(f, trace.ShareGPT, "sharegpt.json") }
func FuzzOTel(f *testing.F)     { fuzz(f, trace.OTel, "otel-export.json", "otel-spans.jsonl") }

// FuzzDetect tells kinds from anything, and names what it saw without control
// characters.
func FuzzDetect(f *testing.F) {
	for _, name := range []string{"mooncake.jsonl", "bailian.jsonl", "azure-2023.csv", "burst-new.csv", "sharegpt.json", "otel-export.json", "otel-spans.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(text)
		f.Add([]byte(gzipped(f, string(text))))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := trace.Read(bytes.NewReader(text), "in", trace.Options{Count: words, MaxLine: 1 << 20})
		if err == nil {
			checkTrace(t, tr)
			return
		}
		require.True(t, known(err), "%v", err)
		require.False(t, strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }), "%q", fmt.Sprint(err))
	})
}
