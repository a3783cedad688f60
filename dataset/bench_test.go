package dataset

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// benchRows writes rows of about 1.3 KB each, as word problems with a context
// and some metadata are, until size bytes are reached.
func benchRows(w io.Writer, size int) (rows int, err error) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of a train leaves apples at noon with twelve boxes and each holds about thirty seven pounds of flour which cost how many dollars would she need if her friends bought three quarters more than last week")
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteByte(" \n"[min(1, rng.IntN(40)/39)])
			if rng.IntN(6) == 0 {
				fmt.Fprintf(&b, "%d ", rng.IntN(100_000))
			}
			if rng.IntN(60) == 0 {
				b.WriteString("“é” ")
			}
		}
		return b.String()
	}
	bw := bufio.NewWriter(w)
	for written := 0; written < size; rows++ {
		line, err := json.Marshal(map[string]any{
			"id": fmt.Sprintf("row-%06d", rows), "question": text(300), "answer": fmt.Sprint(rng.IntN(1_000_000)),
			"group": fmt.Sprint("g", rows%50),
			"meta":  map[string]any{"context": text(700), "level": rows % 5, "tags": []string{"a", "b"}, "weight": 0.25, "ok": true, "nothing": nil},
		})
		if err != nil {
			return rows, err
		}
		n, _ := bw.Write(append(line, '\n'))
		written += n
	}
	return rows, bw.Flush()
}

// baselineItem is what a straightforward loader would keep of a row.
type baselineItem struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Group    string `json:"group"`
	Meta     any    `json:"meta"`
	Raw      json.RawMessage
}

// baseline is Load as most programs write it: compress/gzip, encoding/json,
// and the raw row kept.
func baseline(path string) ([]baselineItem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := stdgzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	var items []baselineItem
	br := bufio.NewReaderSize(z, 64<<10)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			var it baselineItem
			if err := json.Unmarshal(line, &it); err != nil {
				return nil, err
			}
			it.Raw = line
			items = append(items, it)
		}
		if err == io.EOF {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// BenchmarkLoad times Load and the baseline in turns over one 50 MB gzip-JSONL
// file and reports how much faster Load is, as the ratio of the medians: turns,
// so that a noisy machine troubles both alike.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.jsonl.gz")
	var plain bytes.Buffer
	rows, err := benchRows(&plain, 50<<20)
	require.NoError(b, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(plain.Bytes())
	require.NoError(b, err)
	require.NoError(b, z.Close())
	require.NoError(b, os.WriteFile(path, packed.Bytes(), 0o600))
	size := int64(plain.Len())
	plain, packed = bytes.Buffer{}, bytes.Buffer{}

	var ours, theirs []time.Duration
	for b.Loop() {
		for _, which := range []*[]time.Duration{&ours, &theirs} {
			runtime.GC()
			start := time.Now()
			n := 0
			if which == &ours {
				d, err := Load(path)
				require.NoError(b, err)
				n = d.Len()
			} else {
				items, err := baseline(path)
				require.NoError(b, err)
				n = len(items)
			}
			*which = append(*which, time.Since(start))
			require.Equal(b, rows, n)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	o, t := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(0, "ns/op") // both together: of no interest
	b.ReportMetric(float64(t)/float64(o), "x-faster")
	b.ReportMetric(float64(o.Microseconds())/1000, "ms/load")
	b.ReportMetric(float64(t.Microseconds())/1000, "ms/baseline")
	b.ReportMetric(float64(size)/o.Seconds()/1e6, "MB/s")
}
