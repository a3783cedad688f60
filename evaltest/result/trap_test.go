package result_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
)

// TestTrap25RecordsProveARun: a record holds what it takes to grade the answer
// again and to see what it took; many writers mix nothing up; and a line that a
// crash has cut is dropped, told, and its item runs again.
func TestTrap25RecordsProveARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := result.Create(path, header())
	require.NoError(t, err)
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			rec := record(i)
			assert.NoError(t, w.Write(&rec))
		})
	}
	wg.Wait()
	require.NoError(t, w.Abort()) // as a killed process leaves it: no end, not compressed

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, read(t, path).Records, n)
	for _, cut := range []int{1, 2, 40} {
		t.Run(fmt.Sprint("cut by ", cut), func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, whole[:len(whole)-cut], 0o600))
			w, j, err := result.Append(path)
			require.NoError(t, err)
			missing := n - len(j.Records)
			t.Log(cut, missing, j.Warnings)
			if cut > 1 {
				require.Equal(t, 1, missing, "only the cut line is dropped")
				require.Len(t, j.Warnings, 1, "and that is told")
			}
			for i := range n {
				rec := record(i)
				if j.Find(rec.Key()) == nil {
					require.NoError(t, w.Write(&rec), "it runs again")
				}
			}
			require.NoError(t, w.Close(result.End{Complete: true}))
			j = read(t, path)
			require.Len(t, j.Records, n)
			for _, rec := range j.Records {
				proves(t, &rec)
			}
			require.NoError(t, os.Remove(path+".gz"))
		})
	}
}

// proves grades a record's answer again, by itself.
func proves(t *testing.T, rec *result.Record) {
	t.Helper()
	v, err := grade.Numeric().Grade(t.Context(), rec.DatasetItem(), *rec.Response)
	require.NoError(t, err)
	require.Equal(t, rec.Verdict.Mark, v.Mark)
	require.Equal(t, rec.Verdict.Answer, v.Answer)
	require.NotEmpty(t, rec.Response.Text, "the raw text")
	require.True(t, rec.Usage.Known, "tokens")
	require.Equal(t, 900*time.Millisecond, rec.Latency)
	require.NotEmpty(t, rec.CostUSD)
	require.NotEmpty(t, rec.Response.Model)
}
