package trace_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/trace"
)

// TestSamples keeps what is made of a small file of each kind: the report, the
// rows, and the manifest, which agent must take.
func TestSamples(t *testing.T) {
	files := []string{
		"mooncake.jsonl", "mooncake-sessions.jsonl", "mooncake-text.jsonl", "bailian.jsonl",
		"azure-2023.csv", "azure-2024.csv", "burst-old.csv", "burst-new.csv",
		"sharegpt.json", "otel-export.json", "otel-spans.jsonl",
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			tr, err := trace.Open(filepath.Join("testdata", file), trace.Options{Count: words})
			require.NoError(t, err)
			var b strings.Builder
			report := tr.Report()
			report.File = file
			b.WriteString(report.String())
			b.WriteString("\nrows:\n")
			for r := range tr.Rows() {
				fmt.Fprintf(&b, "line %d at %v", r.Line, r.At)
				if r.Session != "" {
					fmt.Fprintf(&b, " session %s turn %d after %v", r.Session, r.Turn, r.Delay)
				}
				fmt.Fprintf(&b, ": %d -> %d", r.Input, r.Output)
				if r.Elapsed > 0 {
					fmt.Fprintf(&b, " in %v", r.Elapsed)
				}
				if r.Hashes != nil {
					fmt.Fprintf(&b, " %v of %d", r.Hashes, r.BlockTokens)
				}
				for _, m := range r.Messages {
					fmt.Fprintf(&b, " [%s %q %d %v]", m.Role, m.Text, m.Tokens, m.Live)
				}
				b.WriteString("\n")
			}
			plan, planned, err := tr.Plan(trace.PlanOptions{})
			require.NoError(t, err)
			fmt.Fprintf(&b, "\nplan: %+v\n", *planned)
			var manifest bytes.Buffer
			require.NoError(t, agent.Write(&manifest, plan))
			b.Write(manifest.Bytes())
			golden(t, file+".golden", b.String())

			m, err := agent.Read(&manifest, "manifest")
			require.NoError(t, err)
			plans, err := agent.Compile(m, agent.Replay{})
			require.NoError(t, err)
			require.Empty(t, plans.Warnings)
			require.Equal(t, tr.Len(), plans.Turns())
		})
	}
}
