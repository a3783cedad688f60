package call

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkScope is an admission and its end without waiting: what every call
// pays.
func BenchmarkScope(b *testing.B) {
	for name, l := range map[string]Limits{
		"zero":     {},
		"limits":   {RPM: maxPerMinute, TPM: maxPerMinute, Burst: time.Minute, Concurrency: 250},
		"adaptive": {Adaptive: AdaptConcurrency},
	} {
		b.Run(name, func(b *testing.B) {
			s, ctx, end := NewScope(l), context.Background(), good(1, 1)
			b.ReportAllocs()
			for b.Loop() {
				g, _, err := s.admit(ctx, 2)
				if err != nil {
					b.Fatal(err)
				}
				g.end(end)
			}
		})
	}
}

// BenchmarkScopeShared is the same through the file.
func BenchmarkScopeShared(b *testing.B) {
	b.Setenv("XDG_CACHE_HOME", b.TempDir())
	s, ctx, end := NewScope(Limits{RPM: maxPerMinute, Burst: time.Minute, Share: "bench"}), context.Background(), good(1, 1)
	b.ReportAllocs()
	for b.Loop() {
		g, _, err := s.admit(ctx, 2)
		if err != nil {
			b.Fatal(err)
		}
		g.end(end)
	}
}

// BenchmarkScopeLine is one call through a line of so many: it must not depend
// on them.
func BenchmarkScopeLine(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := NewScope(Limits{Concurrency: 1})
			s.mu.Lock()
			s.begin()
			s.inFlight = 1
			for range n {
				_, w, err := s.enter(context.Background(), 0, 0)
				if err != nil || w == nil {
					b.Fatal("not in line", err)
				}
			}
			s.mu.Unlock()
			b.ReportAllocs()
			for b.Loop() {
				s.mu.Lock()
				_, w, err := s.enter(context.Background(), 0, 0)
				first := s.line.front
				s.inFlight--
				s.serve(s.begin(), nil)
				s.mu.Unlock()
				if err != nil || w == nil || first.grant == nil {
					b.Fatal("not served", err)
				}
			}
		})
	}
}
