package result_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goevals/evals/evaltest/result"
)

// BenchmarkWrite writes records of about 0.6 KB, each with the kernel before
// its Write returns.
func BenchmarkWrite(b *testing.B) {
	for _, workers := range []int{1, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			const each = 100_000
			b.ReportAllocs()
			for b.Loop() {
				w, err := result.Create(filepath.Join(b.TempDir(), "run.jsonl"), header())
				if err != nil {
					b.Fatal(err)
				}
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						rec := record(1)
						for range each / workers {
							if err := w.Write(&rec); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				if err := w.Abort(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(each/workers*workers), "ns/record")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "run.jsonl")
	w, err := result.Create(path, header())
	if err != nil {
		b.Fatal(err)
	}
	const records = 10_000
	for i := range records {
		rec := record(i)
		if err := w.Write(&rec); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(result.End{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		j, err := result.Read(path)
		if err != nil || len(j.Records) != records {
			b.Fatal(len(j.Records), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
