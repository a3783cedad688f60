package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// FuzzEngine runs random programs of the whole engine: items whose attempts
// call models, one after the other and in parallel, in Policies of the same
// scope, of another or of none, while the provider is busy, fails, hangs,
// panics, ends goroutines and ignores contexts, and what attempts leave running
// goes on. Whatever happens, nothing hangs, nothing is lost, and what the
// package promises holds.
func FuzzEngine(f *testing.F) {
	for seed := range uint64(80) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { newWorld(seed).run(t) })
	})
}

// A world is one random program.
type world struct {
	seed   uint64
	rand   *rand.Rand
	begun  time.Time
	scopes []*Scope
	kind   int // what the provider mostly does

	mu    sync.Mutex
	calls []physical
}

// A physical call.
type physical struct {
	item, scope int
	start       time.Duration
	counted     bool
}

func newWorld(seed uint64) *world {
	w := &world{seed: seed, rand: rand.New(rand.NewPCG(seed, 2))}
	for range 1 + w.rand.IntN(3) {
		pick := func(of ...int) int { return of[w.rand.IntN(len(of))] }
		l := Limits{
			RPM: pick(0, 0, 20, 60, 600, 1_000_000), TPM: pick(0, 0, 3000, 100_000), Concurrency: pick(0, 1, 2, 8),
			Adaptive: []Adaptive{AdaptOff, AdaptOff, AdaptRate, AdaptConcurrency, AdaptAuto}[w.rand.IntN(5)],
		}
		if l.RPM > 0 {
			l.Burst = time.Duration(pick(0, 0, 1, 30, 60)) * time.Second
		}
		w.scopes = append(w.scopes, NewScope(l))
	}
	w.kind = w.rand.IntN(4)
	return w
}

func (w *world) run(t *testing.T) {
	w.begun = time.Now()
	var wg sync.WaitGroup
	var items []*item
	for i := range 5 + w.rand.IntN(40) {
		it := &item{world: w, id: i, rand: rand.New(rand.NewPCG(w.seed, uint64(i))), strays: &wg}
		items = append(items, it)
		wg.Go(func() { it.run(t) })
	}
	wg.Wait()
	for _, it := range items {
		it.check(t)
	}
	w.check(t)
}

// do is the provider.
func (w *world) do(ctx context.Context, it *item, scope int) (llm.Response, error) {
	r := it.draw(100)
	c := physical{item: it.id, scope: scope, start: time.Since(w.begun), counted: true}
	if r == 0 || r == 1 {
		c.counted = false
	}
	w.mu.Lock()
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	if scope >= 0 {
		if until := w.scopes[scope].Stats().PausedUntil; !until.IsZero() && until.After(time.Now()) {
			panic(fmt.Sprintf("a call in a pause until %v", until))
		}
	}
	takes := time.Duration(it.draw(5000)) * time.Millisecond
	usage := llm.Usage{Input: int64(it.draw(500)), Output: int64(it.draw(3000)), Known: it.draw(5) > 0}
	busy := []int{4, 4, 40, 90}[w.kind]
	switch {
	case r == 0:
		return llm.Response{}, &llm.Error{Kind: llm.KindMiss}
	case r == 1:
		return llm.Response{Replayed: true, Usage: usage}, nil
	case r == 2:
		panic("boom")
	case r == 3:
		runtime.Goexit()
	case r < 3+busy/2:
		_ = sleep(ctx, 50*time.Millisecond)
		return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: it.after()}
	case r < 3+busy:
		_ = sleep(ctx, takes)
		return llm.Response{}, errors.New("429 Too Many Requests")
	case r < 96 && r > 92:
		return llm.Response{}, &llm.Error{Kind: llm.KindServer, Status: 503, RetryAfter: it.after()}
	case r == 96: // hangs
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	case r == 97: // and is deaf for a while
		time.Sleep(deafFor)
		return llm.Response{Usage: usage}, nil
	case r == 98:
		return llm.Response{}, llm.Unusable(nil)
	case r == 99 && it.draw(10) == 0:
		return llm.Response{}, &llm.Error{Kind: llm.KindAuth, Status: 401}
	}
	if err := sleep(ctx, takes); err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Text: "ok", Usage: usage}, nil
}

const deafFor = 3 * time.Second

// An item is one item of a program.
type item struct {
	world  *world
	id     int
	mu     sync.Mutex
	rand   *rand.Rand
	log    Tries
	strays *sync.WaitGroup
}

func (it *item) draw(n int) int {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.rand.IntN(n)
}

func (it *item) after() *time.Duration {
	return []*time.Duration{
		nil, nil, seconds(0), new(time.Duration(1)), seconds(1), seconds(5), seconds(30), seconds(300),
		new(time.Duration(math.MaxInt64)), new(-time.Second), new(time.Duration(math.MinInt64)),
	}[it.draw(11)]
}

func (it *item) run(t *testing.T) {
	time.Sleep(time.Duration(it.draw(20)) * time.Second)
	patience := time.Duration(1+it.draw(400)) * time.Second
	end := time.Now().Add(patience)
	ctx := Until(context.Background(), end)
	defer ctx.Cancel()
	policy := Policy{Scope: it.scope(), Timeout: cmp.Or(time.Duration(it.draw(3)*20)*time.Second, -1), Tries: it.draw(25)}
	Attempts{Max: 1 + it.draw(4)}.Do(ctx, func(int) (Next, error) {
		over := make(chan struct{})
		var err error
		go func() { // Goexit ends one attempt
			defer close(over)
			defer func() {
				if p := recover(); p != nil && p != "boom" {
					t.Errorf("seed %d: panic: %v", it.world.seed, p)
				}
			}()
			_, err = policy.Do(WithTries(ctx, &it.log), it.body(policy.Scope))
		}()
		<-over
		if llm.KindOf(err) == llm.KindUnusable {
			return Again, err
		}
		return Later, err
	})
	assert.LessOrEqual(t, time.Since(end), deafFor, "an item ends by its deadline")
}

func (it *item) scope() *Scope {
	if i := it.draw(len(it.world.scopes) + 1); i > 0 {
		return it.world.scopes[i-1]
	}
	return nil
}

func (it *item) index(s *Scope) int { return slices.Index(it.world.scopes, s) }

// body is what an attempt does, inside a Policy of scope outer.
func (it *item) body(outer *Scope) func(context.Context) (llm.Response, error) {
	switch it.draw(6) {
	case 0: // an SDK of the user's own
		return func(ctx context.Context) (llm.Response, error) { return it.world.do(ctx, it, it.index(outer)) }
	case 1: // a Policy in a Policy
		p := Policy{Scope: it.scope(), Timeout: cmp.Or(time.Duration(it.draw(2)*7)*time.Second, -1), Tries: 1 + it.draw(3)}
		return func(ctx context.Context) (llm.Response, error) { return p.Do(ctx, it.body(p.Scope)) }
	case 2: // parallel calls
		return func(ctx context.Context) (resp llm.Response, err error) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for range 2 + it.draw(2) {
				wg.Go(func() {
					defer func() { _ = recover() }()
					r, e := it.model().Generate(ctx, llm.Prompt("?"))
					mu.Lock()
					defer mu.Unlock()
					resp, err = r, errors.Join(err, e)
				})
			}
			wg.Wait()
			return resp, err
		}
	case 3: // leaves something running that goes on with its context
		return func(ctx context.Context) (llm.Response, error) {
			stray := ctx
			if it.draw(2) == 0 {
				stray = context.WithoutCancel(ctx)
			}
			it.strays.Go(func() {
				defer func() { _ = recover() }()
				time.Sleep(time.Duration(it.draw(10)) * time.Second)
				stray, cancel := context.WithTimeout(stray, time.Minute)
				defer cancel()
				_, _ = it.model().Generate(stray, llm.Prompt("?"))
			})
			return it.model().Generate(ctx, llm.Prompt("?"))
		}
	default: // some calls, one after the other, with work in between
		return func(ctx context.Context) (resp llm.Response, err error) {
			for range 1 + it.draw(3) {
				if it.draw(2) == 0 {
					_ = sleep(ctx, time.Duration(it.draw(30))*time.Second)
				}
				if resp, err = it.model().Generate(ctx, llm.Prompt("?")); err != nil {
					return resp, err
				}
			}
			return resp, nil
		}
	}
}

// model is a Model of some scope, which may be a Model of the same one.
func (it *item) model() llm.Model {
	s := it.world.scopes[it.draw(len(it.world.scopes))]
	c := Config{Scope: s, Timeout: time.Duration(1+it.draw(20)) * time.Second, Tries: it.draw(22)}
	m := New(llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		return it.world.do(ctx, it, it.index(s))
	}), c)
	if it.draw(4) == 0 {
		return New(m, c)
	}
	return m
}

// check: every physical call is one try, and none is made up.
func (it *item) check(t *testing.T) {
	made, sent := 0, 0
	for _, c := range it.world.calls {
		if c.item == it.id {
			made++
		}
	}
	for _, try := range it.log.All() {
		if !try.Unsent {
			sent++
		}
		assert.GreaterOrEqual(t, min(try.Waits.Pause, try.Waits.Limit, try.Waits.Slot, try.Duration), time.Duration(0))
	}
	assert.Equal(t, made, sent, "seed %d, item %d: tries in the log", it.world.seed, it.id)
	assert.Empty(t, it.log.under)
}

func (w *world) check(t *testing.T) {
	for i, s := range w.scopes {
		var at []time.Duration
		for _, c := range w.calls {
			if c.scope == i && c.counted {
				at = append(at, c.start)
			}
		}
		if rpm := s.limits.RPM; rpm > 0 {
			extra := int(int64(rpm) * int64(s.limits.Burst) / int64(time.Minute))
			assert.LessOrEqual(t, most(at, time.Minute), rpm+extra, "seed %d: RPM", w.seed)
		}
		stats := s.Stats()
		assert.Zero(t, stats.InFlight, "seed %d: slots", w.seed)
		assert.Zero(t, stats.Waiting)
		assert.Equal(t, ages{pauses: s.ages.pauses}, s.ages)
		assert.Zero(t, s.reserved)
		assert.Nil(t, s.timer)
	}
}
