package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustNew(t testing.TB, opt Options) *Workload {
	t.Helper()
	w, err := New(opt)
	require.NoError(t, err)
	return w
}

// ask makes requests 0 to n-1.
func ask(t testing.TB, s Source, n int) []Request {
	t.Helper()
	list := make([]Request, n)
	for i := range list {
		req, err := s.Request(i)
		require.NoError(t, err)
		list[i] = req
	}
	return list
}

// text is all text of a request, in the order in which a server reads it.
func text(r Request) string {
	parts := []string{}
	for _, m := range r.Chat() {
		parts = append(parts, m.Content)
	}
	return strings.Join(parts, " ")
}

// scenarios are workloads of each kind, made of t.
func scenarios(text Text) map[string]Options {
	base := Options{Text: text, Seed: 42, Salt: Salt{Value: 7}, Input: Must(LogNormal(12, .8, 40)), Output: Must(Fixed(8, 4))}
	with := func(f func(*Options)) Options { o := base; f(&o); return o }
	return map[string]Options{
		"plain":     base,
		"no salt":   with(func(o *Options) { o.Salt = Salt{Off: true} }),
		"long salt": with(func(o *Options) { o.Salt.Tokens = 9 }),
		"overlap":   with(func(o *Options) { o.Overlap.Share = .5 }),
		"steps":     with(func(o *Options) { o.Overlap = Overlap{Share: .6, Step: 3} }),
		"all":       with(func(o *Options) { o.Overlap.Share = 1 }),
		"little":    with(func(o *Options) { o.Overlap.Share = .1 }),
		"shortest":  with(func(o *Options) { o.Overlap, o.Count = Overlap{Share: .5, Of: OfShortest}, 60 }),
		"groups":    with(func(o *Options) { o.Groups = Groups{Count: 3, Tokens: 6, Weights: []float64{6, 3, 1}} }),
		"system":    with(func(o *Options) { o.Groups = Groups{Count: 5, Tokens: 6, System: true} }),
		"tiny":      with(func(o *Options) { o.Groups = Groups{Count: 2, Tokens: 2} }),
		"blocks":    with(func(o *Options) { o.Overlap.Share, o.CacheBlock = .7, 4 }),
		"pairs": with(func(o *Options) {
			o.Input, o.Output, o.Pairs = Dist{}, Dist{}, []Pair{{5, 3}, {1, 0}, {30, 1}}
			o.Count = 60
		}),
	}
}

func TestExactLengths(t *testing.T) {
	for name, opt := range scenarios(words{}) {
		t.Run(name, func(t *testing.T) {
			for _, r := range ask(t, mustNew(t, opt), 60) {
				assert.Equal(t, r.AskedInput, count(text(r)), "request %d", r.Seq)
				assert.LessOrEqual(t, r.Shared, r.AskedInput)
			}
		})
	}
}

// What a perfect cache could hold is what the text has in common with a text
// before it, token by token: here all words differ, so that nothing is in common
// by chance.
func TestPossibleCachedIsWhatIsInCommon(t *testing.T) {
	for _, maker := range []Text{distinct{}, searching{}} {
		for name, opt := range scenarios(maker) {
			t.Run(fmt.Sprintf("%T %s", maker, name), func(t *testing.T) {
				var before [][]string
				some := false
				for _, r := range ask(t, mustNew(t, opt), 60) {
					tokens, best := strings.Fields(text(r)), 0
					for _, b := range before {
						n := 0
						for n < min(len(b), len(tokens)) && b[n] == tokens[n] {
							n++
						}
						best = max(best, n)
					}
					before = append(before, tokens)
					assert.Equal(t, blocks(best, max(1, opt.CacheBlock)), r.PossibleCached, "request %d of %d tokens", r.Seq, r.AskedInput)
					some = some || r.PossibleCached > 0
				}
				shares := opt.Groups.Count > 0 || opt.Overlap.Share > .1
				if shares {
					assert.True(t, some, "something must be shared")
				}
				if !shares && opt.Overlap.Share == 0 {
					assert.False(t, some, "nothing must be shared")
				}
			})
		}
	}
}

// The same number is the same request, whatever was asked for before and by
// how many at once.
func TestOrderDoesNotMatter(t *testing.T) {
	const n = 60
	for name, opt := range scenarios(searching{}) {
		t.Run(name, func(t *testing.T) {
			want, w := ask(t, mustNew(t, opt), n), mustNew(t, opt)
			got := make([]Request, n)
			var wg sync.WaitGroup
			order := rand.New(rand.NewPCG(1, 2)).Perm(n)
			for g := range 4 {
				wg.Go(func() {
					for i := g; i < n; i += 4 {
						got[order[i]], _ = w.Request(order[i])
					}
				})
			}
			wg.Wait()
			assert.Equal(t, want, got)
			again, err := w.Request(3)
			require.NoError(t, err)
			assert.Equal(t, want[3], again)
		})
	}
}

// The bytes of a seed, for good. Each scenario has its first 5 requests.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"plain", "no salt", "overlap", "shortest", "groups", "system", "pairs"} {
		fmt.Fprintf(&b, "# %s\n", name)
		for _, r := range ask(t, mustNew(t, scenarios(words{})[name]), 5) {
			line, err := json.Marshal(r)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s\n", line)
		}
	}
	golden(t, "requests.txt", b.String())
}

func TestSalt(t *testing.T) {
	for name, opt := range scenarios(distinct{}) {
		if opt.Salt.Off {
			continue
		}
		t.Run(name, func(t *testing.T) {
			first := ask(t, mustNew(t, opt), 60)
			opt.Salt.Value++
			for i, r := range ask(t, mustNew(t, opt), 60) {
				a, b := strings.Fields(text(first[i])), strings.Fields(text(r))
				require.Equal(t, len(a), len(b), "the lengths stay")
				salt := min(len(a), max(4, opt.Salt.Tokens))
				for k := range a {
					assert.Equal(t, k < salt, a[k] != b[k], "request %d, token %d: the salt is the first %d tokens and nothing else", i, k, salt)
				}
				first[i].Prompt, r.Prompt, first[i].Messages, r.Messages = "", "", nil, nil
				assert.Equal(t, first[i], r)
			}
		})
	}
}

func TestDefaultsAreReported(t *testing.T) {
	a, b := mustNew(t, Options{Text: words{}, Input: Must(Fixed(20, 0))}), mustNew(t, Options{Text: words{}, Input: Must(Fixed(20, 0))})
	opt := a.Options()
	assert.NotZero(t, opt.Seed)
	assert.NotZero(t, opt.Salt.Value)
	assert.Equal(t, 4, opt.Salt.Tokens)
	assert.Equal(t, 1, opt.CacheBlock)
	assert.NotEqual(t, opt.Seed, b.Options().Seed, "drawn")
	assert.NotEqual(t, opt.Salt.Value, b.Options().Salt.Value, "drawn")
	assert.Equal(t, ask(t, a, 5), ask(t, mustNew(t, opt), 5), "the reported options make the same requests")
	off := mustNew(t, Options{Text: words{}, Input: Must(Fixed(20, 0)), Salt: Salt{Off: true}})
	assert.Equal(t, Salt{Off: true}, off.Options().Salt)
}

func TestOptionsAsJSON(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"plain", "overlap", "groups", "no salt"} {
		line, err := json.Marshal(mustNew(t, scenarios(words{})[name]).Options())
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n", line)
	}
	golden(t, "options.txt", rounded(b.String()))
}

func TestOverlapRules(t *testing.T) {
	opt := Options{Text: distinct{}, Seed: 3, Salt: Salt{Off: true}, Input: Must(Uniform(5, 300)), Count: 50}
	lengths := map[int]int{}
	shortest := 1000
	for _, r := range ask(t, mustNew(t, opt), 50) {
		lengths[r.Seq] = r.AskedInput
		shortest = min(shortest, r.AskedInput)
	}
	for _, row := range []struct {
		name, reason string
		overlap      Overlap
		want         func(length int) int
	}{
		{"each", "a share of the prompt itself", Overlap{Share: .5}, func(n int) int { return n / 2 }},
		{"each, decimal", "29 of 100 is 29, though 0.29 as a float is less", Overlap{Share: .29}, func(n int) int { return n * 29 / 100 }},
		{"each, in steps", "rounded down to a multiple", Overlap{Share: .5, Step: 8}, func(n int) int { return n / 2 / 8 * 8 }},
		{"shortest", "BatchBench's rule", Overlap{Share: .5, Of: OfShortest}, func(int) int { return shortest / 2 }},
		{"shortest, at least 1", "a share that rounds to nothing", Overlap{Share: 1e-6, Of: OfShortest}, func(int) int { return 1 }},
		{"none", "", Overlap{}, func(int) int { return 0 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := opt
			o.Overlap = row.overlap
			w := mustNew(t, o)
			long := ""
			for _, r := range ask(t, w, 50) {
				require.Equal(t, lengths[r.Seq], r.AskedInput, "the lengths do not change")
				require.Equal(t, row.want(r.AskedInput), r.Shared, "%s: request %d of %d tokens", row.reason, r.Seq, r.AskedInput)
				head := strings.Join(strings.Fields(r.Prompt)[:r.Shared], " ")
				require.True(t, strings.HasPrefix(head, long) || strings.HasPrefix(long, head), "all beginnings are of one text")
				if len(head) > len(long) {
					long = head
				}
			}
		})
	}
}

func TestGroupWeights(t *testing.T) {
	const n = 10_000
	w := mustNew(t, Options{Text: words{}, Seed: 5, Input: Must(Fixed(1, 0)), Groups: Groups{Count: 3, Tokens: 1, Weights: []float64{7, 1, 2}}})
	var counts [3]float64
	for seq := range n {
		counts[w.group(seq)]++
	}
	for i, p := range []float64{.7, .1, .2} {
		assert.InDelta(t, p, counts[i]/n, 4*math.Sqrt(p*(1-p)/n), "4 standard errors")
	}
	assert.Equal(t, 2, pick(Rand(1, 1, GroupChoice), 3, []float64{0, 0, 0}), "a sum that rounding ate is the last group, not a panic")
}

// A text that cannot be made is that request's error only.
func TestBuildErrors(t *testing.T) {
	odd := func(n int) bool { return n == 6 } // 10 tokens less 4 of salt
	pairs := []Pair{{12, 1}, {10, 1}, {13, 1}}
	w := mustNew(t, Options{Text: failing{bad: odd}, Seed: 1, Pairs: pairs})
	for seq, p := range pairs {
		r, err := w.Request(seq)
		assert.Equal(t, p.Input, r.AskedInput)
		if seq != 1 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, errNoText)
		var build *BuildError
		require.ErrorAs(t, err, &build)
		assert.Equal(t, BuildError{Seq: 1, Tokens: 10, Err: errNoText}, *build)
		assert.EqualError(t, err, "workload: request 1 of 10 tokens: no such text")
	}

	t.Run("shared", func(t *testing.T) {
		w := mustNew(t, Options{Text: failing{bad: odd}, Seed: 1, Salt: Salt{Off: true}, Input: Must(Fixed(3, 0)), Groups: Groups{Count: 1, Tokens: 6}})
		for range 2 {
			_, err := w.Request(0)
			assert.EqualError(t, err, "workload: request 0 of 9 tokens: the shared beginning, after 0 tokens of it: no such text", "the same error each time")
		}
	})
	t.Run("shared, later on", func(t *testing.T) {
		// The second step fails for good: prompts that share one step have it.
		calls := 0
		w := mustNew(t, Options{Text: failing{bad: func(n int) bool { calls++; return n == 8 && calls > 2 }}, Seed: 1, Salt: Salt{Off: true}, Overlap: Overlap{Share: .5, Step: 8}, Pairs: []Pair{{20, 1}, {40, 1}, {21, 1}}})
		_, err := w.Request(0)
		require.NoError(t, err)
		_, err = w.Request(1)
		assert.EqualError(t, err, "workload: request 1 of 40 tokens: the shared beginning, after 8 tokens of it: no such text")
		_, err = w.Request(2)
		assert.NoError(t, err)
	})
	t.Run("too long", func(t *testing.T) {
		w := mustNew(t, Options{Text: words{}, Seed: 1, Input: Must(LogNormalMu(21, .01, 0))})
		_, err := w.Request(0)
		require.ErrorIs(t, err, ErrLength)
	})
	t.Run("end", func(t *testing.T) {
		_, err := w.Request(3)
		require.ErrorIs(t, err, ErrEnd)
		assert.EqualError(t, err, "workload: request 3: no more requests: Count is 3")
		assert.Equal(t, 3, w.Len())
		assert.Panics(t, func() { _, _ = w.Request(-1) })
	})
}

func TestOptionErrors(t *testing.T) {
	good := Options{Text: words{}, Input: Must(Fixed(5, 0))}
	for _, row := range []struct {
		name, reason string
		change       func(*Options)
		want         string
	}{
		{"no text", "", func(o *Options) { o.Text = nil }, "workload: Text is missing: it makes the prompts"},
		{"no input", "", func(o *Options) { o.Input = Dist{} }, "workload: Input is missing: how long are the prompts?"},
		{"pairs and input", "two sources of lengths", func(o *Options) { o.Pairs = []Pair{{1, 1}} }, "workload: Pairs cannot be combined with Input or Output"},
		{"bad pair", "", func(o *Options) { o.Input, o.Pairs = Dist{}, []Pair{{1, 1}, {0, 1}} },
			"workload: Pairs[1] is {Input:0 Output:1}: want an Input from 1 to 16777216 and an Output from 0 to 2147483647"},
		{"count", "", func(o *Options) { o.Count = -1 }, "workload: Count is -1: want at least 0, which is no end"},
		{"block", "", func(o *Options) { o.CacheBlock = -1 }, "workload: CacheBlock is -1: want at least 1, or 0 for the default of 1"},
		{"long", "no text is that long", func(o *Options) { o.Input = Must(Fixed(MaxLength+1, 0)) }, "workload: Input is 16777217: want at most 16777216 tokens"},
		{"long max", "", func(o *Options) { o.Input = Must(LogNormal(100, 1, MaxLength+1)) },
			"workload: Input is a log-normal up to 16777217: want a max of at most 16777216 tokens"},
		{"share above 1", "BatchBench takes it for 1", func(o *Options) { o.Overlap.Share = 1.5 }, "workload: Overlap.Share is 1.5: want from 0 to 1"},
		{"share NaN", "", func(o *Options) { o.Overlap.Share = math.NaN() }, "workload: Overlap.Share is NaN: want from 0 to 1"},
		{"rule", "", func(o *Options) { o.Overlap = Overlap{Share: .5, Of: "mean"} }, `workload: Overlap.Of is mean: want "" or "shortest"`},
		{"shortest of endless", "", func(o *Options) { o.Overlap = Overlap{Share: .5, Of: OfShortest} }, "workload: Overlap.Of is shortest: it needs Count: the shortest of how many prompts?"},
		{"step", "", func(o *Options) { o.Overlap = Overlap{Share: .5, Step: -1} }, "workload: Overlap.Step is -1: want from 1 to 16777216, or 0 for the default of 1"},
		{"step alone", "", func(o *Options) { o.Overlap = Overlap{Step: 8} }, "workload: Overlap.Step is 8: it needs a Share of each prompt"},
		{"overlap and groups", "", func(o *Options) { o.Overlap.Share, o.Groups = .5, Groups{Count: 1, Tokens: 1} }, "workload: Overlap.Share is 0.5: it cannot be combined with Groups"},
		{"group tokens", "", func(o *Options) { o.Groups = Groups{Count: 1} }, "workload: Groups.Tokens is 0: want from 1 to 16777216"},
		{"group count", "", func(o *Options) { o.Groups = Groups{Count: -1} }, "workload: Groups.Count is -1: want from 1 to 1048576, or 0 for no groups"},
		{"groups without count", "not ignored", func(o *Options) { o.Groups = Groups{Tokens: 5} }, "workload: Groups.Count is missing: the other options of Groups need it"},
		{"weights", "", func(o *Options) { o.Groups = Groups{Count: 2, Tokens: 1, Weights: []float64{1}} }, "workload: Groups.Weights is a list of 1: want one for each of the 2 groups"},
		{"weight 0", "a group that never comes is a mistake", func(o *Options) { o.Groups = Groups{Count: 2, Tokens: 1, Weights: []float64{1, 0}} },
			"workload: Groups.Weights[1] is 0: want finite numbers above 0 with a finite sum"},
		{"weights overflow", "", func(o *Options) { o.Groups = Groups{Count: 2, Tokens: 1, Weights: []float64{1e308, 1e308}} },
			"workload: Groups.Weights[1] is 1e+308: want finite numbers above 0 with a finite sum"},
		{"salt", "", func(o *Options) { o.Salt.Tokens = -1 }, "workload: Salt.Tokens is -1: want from 1 to 16777216, or 0 for the default; Off leaves the salt out"},
	} {
		t.Run(row.name, func(t *testing.T) {
			opt := good
			row.change(&opt)
			w, err := New(opt)
			require.EqualError(t, err, row.want, row.reason)
			require.ErrorIs(t, err, ErrOption)
			assert.Nil(t, w)
		})
	}
}

func TestEntry(t *testing.T) {
	assert.Equal(t, 7, Entry(3, 1, 2), "G18")
	seen := map[int]bool{}
	for user := range 4 {
		for n := range 5 {
			seen[Entry(4, user, n)] = true
		}
	}
	assert.Len(t, seen, 20, "each entry once")
	assert.Equal(t, math.MaxInt, Entry(4, 3, math.MaxInt/4), "the largest there is")
	for _, bad := range [][3]int{
		{0, 0, 0}, {3, 3, 0}, {3, -1, 0}, {3, 0, -1},
		{8, 0, 1 << (bits.UintSize - 2)}, // the product is 0 again
		{5, 4, math.MaxInt / 5},          // only the sum is too large
	} {
		assert.Panics(t, func() { Entry(bad[0], bad[1], bad[2]) }, "%v", bad)
	}
}
