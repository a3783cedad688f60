package call_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// priced charges a dollar for a million tokens of "m" and knows no other model.
func priced(r llm.Response) (string, bool) {
	if r.Model != "m" {
		return "", false
	}
	return fmt.Sprintf("%de-6", r.Usage.Input+r.Usage.Output), true
}

func answered(model string, in, out int64) llm.Call {
	return llm.Call{Response: llm.Response{Model: model, Usage: llm.Usage{Input: in, Output: out, Known: true}}}
}

func charged(usd string) llm.Call { return llm.Call{Response: llm.Response{CostUSD: usd}} }

func broke(kind llm.ErrorKind, u llm.Usage) llm.Call {
	return llm.Call{Err: &llm.Error{Kind: kind, Usage: u}}
}

var unknown = llm.Usage{}

func newBudget(t *testing.T, c call.Caps) *call.Budget {
	b, err := call.NewBudget(c)
	require.NoError(t, err)
	return b
}

func TestBudget(t *testing.T) {
	replayed := answered("m", 1e6, 0)
	replayed.Response.Replayed = true
	reset := llm.Call{Err: &llm.Error{Kind: llm.KindConnection, Err: syscall.ECONNRESET}}
	refused := llm.Call{Err: &llm.Error{Kind: llm.KindConnection, Err: syscall.ECONNREFUSED}}
	for _, tc := range []struct {
		name, reason string
		caps         call.Caps
		calls        []llm.Call
		want         string // of the error; "" to go on
		spent        string
	}{
		{"nothing", "", call.Caps{MaxUSD: "1"}, nil, "", "$0 of $1, 0 tokens in 0 calls"},
		{"no caps", "is never used up", call.Caps{}, []llm.Call{answered("m", math.MaxInt64, math.MaxInt64)}, "", "at least $0, 9223372036854775807 tokens in 1 call, 1 without a price"},
		{"money left", "", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{answered("m", 999_999, 0)}, "", "$0.999999 of $1, 999999 tokens in 1 call"},
		{"money reached", "at the cap it stops", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{answered("m", 1_000_000, 0)}, "$1 of $1", ""},
		{"tokens left", "", call.Caps{MaxTokens: 100}, []llm.Call{answered("m", 90, 9)}, "", "99 of 100 tokens in 1 call"},
		{"tokens reached", "", call.Caps{MaxTokens: 100}, []llm.Call{answered("m", 90, 10)}, "100 of 100 tokens", ""},
		{"provider's cost wins", "", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{{Response: llm.Response{Model: "m", CostUSD: "0.25", Usage: llm.Usage{Input: 5, Known: true}}}}, "", "$0.25 of $1, 5 tokens in 1 call"},
		{"failed calls cost", "their usage is on the error", call.Caps{MaxTokens: 100}, []llm.Call{broke(llm.KindServer, llm.Usage{Input: 100, Known: true})}, "100 of 100 tokens", ""},
		{"no price", "fails closed and names the model", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{answered("new", 1, 1)}, `MaxUSD is 1, and what model "new" costs is not known (it has no price)`, ""},
		{"no price function", "", call.Caps{MaxUSD: "1"}, []llm.Call{answered("", 1, 1)}, "a model that the provider did not name costs is not known", ""},
		{"no price, no cap on money", "tokens can be counted without one", call.Caps{MaxTokens: 100, Price: priced}, []llm.Call{answered("new", 1, 1)}, "", "2 of 100 tokens in 1 call"},
		{"price panics", "", call.Caps{MaxUSD: "1", Price: func(llm.Response) (string, bool) { panic("boom") }}, []llm.Call{answered("m", 1, 1)}, "the price function panicked: boom", ""},
		{"price is garbage", "", call.Caps{MaxUSD: "1", Price: func(llm.Response) (string, bool) { return "free", true }}, []llm.Call{answered("m", 1, 1)}, `the price function returned "free"`, ""},
		{"price is negative", "", call.Caps{MaxUSD: "1", Price: func(llm.Response) (string, bool) { return "-1", true }}, []llm.Call{answered("m", 1, 1)}, `the price function returned "-1"`, ""},
		{"provider's cost is garbage", "the price function is asked", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{{Response: llm.Response{Model: "m", CostUSD: "1e999999999", Usage: llm.Usage{Input: 5, Known: true}}}}, "", "$0.000005 of $1, 5 tokens in 1 call"},
		{"provider's cost is garbage, no price", "", call.Caps{MaxUSD: "1"}, []llm.Call{{Response: llm.Response{CostUSD: "NaN", Usage: llm.Usage{Input: 5, Known: true}}}}, "the provider's cost is no amount", ""},
		{"unknown before all", "counts once something is known", call.Caps{MaxUSD: "1", Price: priced}, []llm.Call{broke(llm.KindTimeout, unknown), answered("m", 500_000, 0)}, "at least $0.5 (counted as $1) of $1", ""},
		{"unknown after", "as the dearest so far", call.Caps{MaxTokens: 1000}, []llm.Call{answered("m", 300, 0), answered("m", 100, 0), broke(llm.KindTimeout, unknown)}, "", "at least 400 (counted as 700) of 1000 tokens in 3 calls, 1 of unknown usage"},
		{"unknown, then dearer", "the dearest at any time", call.Caps{MaxTokens: 1000}, []llm.Call{broke(llm.KindTimeout, unknown), answered("m", 300, 0), answered("m", 350, 0)}, "at least 650 (counted as 1000) of 1000 tokens", ""},
		{"all unknown", "nothing is known that they could cost", call.Caps{MaxTokens: 1}, []llm.Call{broke(llm.KindTimeout, unknown)}, "", "at least 0 of 1 tokens in 1 call, 1 of unknown usage"},
		{"never a usage", "a server that reports none: no cap can be kept", call.Caps{MaxTokens: 1}, slices.Repeat([]llm.Call{{Response: llm.Response{Text: "18"}}}, 5), "no answer so far said what it used", ""},
		{"never a usage yet", "", call.Caps{MaxTokens: 1}, slices.Repeat([]llm.Call{{Response: llm.Response{Text: "18"}}}, 4), "", "at least 0 of 1 tokens in 4 calls, 4 of unknown usage"},
		{"timeouts only", "are another gate's", call.Caps{MaxTokens: 1}, slices.Repeat([]llm.Call{broke(llm.KindTimeout, unknown)}, 9), "", "at least 0 of 1 tokens in 9 calls, 9 of unknown usage"},
		{"costs without usage", "money can be kept to", call.Caps{MaxUSD: "1"}, slices.Repeat([]llm.Call{charged("0.1")}, 6), "", "$0.6 of $1, at least 0 tokens in 6 calls, 6 of unknown usage"},
		{"a reset", "may be billed", call.Caps{MaxTokens: 10}, []llm.Call{answered("m", 5, 0), reset}, "counted as 10", ""},
		{"refused", "cost nothing", call.Caps{MaxTokens: 10}, []llm.Call{answered("m", 5, 0), broke(llm.KindRateLimit, unknown), broke(llm.KindAuth, unknown), broke(llm.KindBadRequest, unknown), broke(llm.KindMiss, unknown), refused}, "", "5 of 10 tokens in 6 calls"},
		{"refused with a usage of 0", "needs no price", call.Caps{MaxUSD: "1"}, []llm.Call{broke(llm.KindRateLimit, llm.Usage{Known: true})}, "", "$0 of $1, 0 tokens in 1 call"},
		{"replayed", "costs nothing", call.Caps{MaxUSD: "1", MaxTokens: 1, Price: priced}, []llm.Call{replayed}, "", "$0 of $1, 0 of 1 tokens in 1 call"},
		{"contradictory usage", "is no known one", call.Caps{MaxTokens: 10}, []llm.Call{answered("m", 5, 0), answered("m", -5, 0)}, "counted as 10", ""},
		{"huge usage", "does not wrap round", call.Caps{MaxTokens: 10}, []llm.Call{answered("m", math.MaxInt64, 1), answered("m", math.MaxInt64, 1), broke(llm.KindTimeout, unknown)}, "9223372036854775807 of 10 tokens", ""},
		{"exact", "0.1 + 0.2 is 0.3", call.Caps{MaxUSD: "0.3"}, []llm.Call{charged("0.1"), charged("0.2")}, "$0.3 of $0.3", ""},
		{"exact below", "", call.Caps{MaxUSD: "0.30000000000000000001"}, []llm.Call{charged("0.1"), charged("0.2")}, "", "$0.3 of $0.30000000000000000001, at least 0 tokens in 2 calls, 2 of unknown usage"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBudget(t, tc.caps)
			require.NoError(t, b.Admit())
			err := b.Spend(tc.calls...)
			assert.Equal(t, err, b.Admit(), "it stays")
			assert.Equal(t, err, b.Spend())
			if tc.want == "" {
				assert.NoError(t, err, tc.reason)
				assert.Equal(t, tc.spent, b.Spent().String(), tc.reason)
				return
			}
			require.ErrorIs(t, err, call.ErrBudget, tc.reason)
			assert.ErrorContains(t, err, tc.want, tc.reason)
		})
	}
}

// TestCaseU10Budget: usage omitted for one of three calls. Tokens are known for
// two, one is unknown, and the budget does not take it for free.
func TestCaseU10Budget(t *testing.T) {
	b := newBudget(t, call.Caps{MaxUSD: "0.25", Price: priced})
	require.NoError(t, b.Spend(answered("m", 90_000, 0), llm.Call{Response: llm.Response{Text: "18", Model: "m"}}))
	assert.Equal(t, "at least $0.09 (counted as $0.18) of $0.25, at least 90000 (counted as 180000) tokens in 2 calls, 1 of unknown usage", b.Spent().String())
	err := b.Spend(answered("m", 70_000, 0))
	require.ErrorIs(t, err, call.ErrBudget)
	assert.EqualError(t, err, "call: the budget allows no further call: at least $0.16 (counted as $0.25) of $0.25, at least 160000 (counted as 250000) tokens in 3 calls, 1 of unknown usage")
	assert.Equal(t, call.Spent{Calls: 3, Tokens: 160_000, USD: "0.16", UnknownTokens: 1, UnknownUSD: 1,
		ChargedTokens: 250_000, ChargedUSD: "0.25", MaxUSD: "0.25"}, b.Spent())

	b = newBudget(t, call.Caps{MaxUSD: "0.25", Price: priced})
	assert.ErrorContains(t, b.Spend(answered("X", 1, 1)), `what model "X" costs is not known`)
}

// TestCaseU12Budget: one failed attempt takes nothing from what is known.
func TestCaseU12Budget(t *testing.T) {
	b := newBudget(t, call.Caps{MaxTokens: 10_000})
	require.NoError(t, b.Spend(
		llm.Call{Err: &llm.Error{Kind: llm.KindConnection, Err: errors.New("connection reset by peer")}},
		answered("m", 100, 20), answered("m", 100, 30), answered("m", 100, 40)))
	s := b.Spent()
	assert.Equal(t, int64(390), s.Tokens)
	assert.Equal(t, 1, s.UnknownTokens)
}

// TestCostsNothing: a call that waited in vain was not billed; one that hung may
// have been.
func TestCostsNothing(t *testing.T) {
	assert.False(t, call.CostsNothing(nil))
	assert.False(t, call.CostsNothing(errors.New("boom")))
	assert.True(t, call.CostsNothing(fmt.Errorf("before attempt 2: %w", call.ErrBudget)))
	synctest.Test(t, func(t *testing.T) {
		m := script(nil)
		m.Latency = func(int, llm.Request) time.Duration { return time.Hour }
		model := call.New(m, call.Config{Scope: call.NewScope(call.Limits{Concurrency: 1})})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wait sync.WaitGroup
		wait.Go(func() {
			_, err := model.Generate(ctx, llm.Prompt("?"))
			assert.False(t, call.CostsNothing(err), "it hung")
		})
		synctest.Wait()
		_, err := model.Generate(ctx, llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrRunTimeout)
		assert.True(t, call.CostsNothing(err), "it never started")
		wait.Wait()
	})
}

// TestBudgetGoexit: a price function that ends its goroutine neither hangs the
// budget nor opens it.
func TestBudgetGoexit(t *testing.T) {
	b := newBudget(t, call.Caps{MaxUSD: "1", Price: func(llm.Response) (string, bool) { runtime.Goexit(); return "", false }})
	var wait sync.WaitGroup
	wait.Go(func() { _ = b.Spend(answered("m", 1, 1)) })
	wait.Wait()
	assert.ErrorContains(t, b.Admit(), "the price function ended its goroutine")
}

// TestBudgetOvershoot: what is spent beyond the cap is at most what was in
// flight when it was reached.
func TestBudgetOvershoot(t *testing.T) {
	const workers = 8
	b := newBudget(t, call.Caps{MaxTokens: 1000})
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for b.Admit() == nil {
				_ = b.Spend(answered("m", 9, 1))
			}
		})
	}
	wait.Wait()
	assert.GreaterOrEqual(t, b.Spent().Tokens, int64(1000))
	assert.Less(t, b.Spent().Tokens, int64(1000+workers*10))
}

func TestCapsCheck(t *testing.T) {
	for _, tc := range []struct {
		c    call.Caps
		want string
	}{
		{call.Caps{MaxTokens: -1}, "Caps.MaxTokens is -1"},
		{call.Caps{MaxUSD: "-1"}, `Caps.MaxUSD is "-1": want 0 or more`},
		{call.Caps{MaxUSD: "0"}, `Caps.MaxUSD is "0"; it must be more than 0`},
		{call.Caps{MaxUSD: "$5"}, `Caps.MaxUSD is "$5": want US dollars as a decimal`},
		{call.Caps{MaxUSD: "NaN"}, `Caps.MaxUSD is "NaN"`},
		{call.Caps{MaxUSD: "1e99"}, `Caps.MaxUSD is "1e99"`},
	} {
		_, err := call.NewBudget(tc.c)
		assert.ErrorContains(t, err, tc.want)
	}
}

func FuzzBudget(f *testing.F) {
	for _, s := range []string{"0.1", "1e999999999", "-1", "", "NaN", "1e-999999999", "0x1p9", "1_000", " 1", "+5"} {
		f.Add(s, int64(1), int64(2), true)
	}
	f.Fuzz(func(t *testing.T, usd string, in, out int64, known bool) {
		b, err := call.NewBudget(call.Caps{MaxUSD: "1000", MaxTokens: math.MaxInt64})
		if err != nil {
			t.Fatal(err)
		}
		c := llm.Call{Response: llm.Response{CostUSD: usd, Usage: llm.Usage{Input: in, Output: out, Known: known}}}
		for range 3 {
			_ = b.Spend(c)
		}
		s := b.Spent()
		if s.Tokens < 0 || s.ChargedTokens < s.Tokens || len(s.String()) > 400 {
			t.Fatal(s)
		}
		if v, err := strconv.ParseFloat(s.USD, 64); err != nil || v < 0 {
			t.Fatal(s)
		}
	})
}

// TestBudgetPriceHangs: a price function that does not return holds up its
// caller, and nobody else.
func TestBudgetPriceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		b := newBudget(t, call.Caps{MaxUSD: "1", Price: func(r llm.Response) (string, bool) {
			if r.Model == "slow" {
				<-release
			}
			return "0.25", true
		}})
		go func() { _ = b.Spend(answered("slow", 1, 1)) }()
		synctest.Wait()
		assert.NoError(t, b.Admit())
		assert.NoError(t, b.Spend(answered("m", 1, 1)))
		assert.Equal(t, "0.25", b.Spent().USD)
		release <- true
		synctest.Wait()
		assert.Equal(t, "0.5", b.Spent().USD)
	})
}

// TestBudgetGoexitCounts: the calls that came with one whose price function ended
// the goroutine are not lost.
func TestBudgetGoexitCounts(t *testing.T) {
	b := newBudget(t, call.Caps{MaxTokens: 100, Price: func(r llm.Response) (string, bool) {
		if r.Model == "exit" {
			runtime.Goexit()
		}
		return "0.25", true
	}})
	var wait sync.WaitGroup
	wait.Go(func() { _ = b.Spend(answered("m", 30, 0), answered("exit", 30, 0), answered("m", 30, 0)) })
	wait.Wait()
	assert.EqualValues(t, 90, b.Spent().Tokens)
	assert.Equal(t, 3, b.Spent().Calls)
}
