package call

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// FuzzScope runs random programs: callers that come, wait, give up, succeed,
// fail, meet rate limits, take more or less than they said, under random
// limits. Whatever happens, what the package promises holds.
func FuzzScope(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { newProgram(seed).run(t) })
	})
}

// A program is one random run.
type program struct {
	rand   *rand.Rand
	limits Limits
	scope  *Scope
	begun  time.Time

	mu       sync.Mutex
	done     []*caller
	inFlight int
	top      int
}

// A caller makes one call.
type caller struct {
	comes    time.Duration
	tokens   int64
	patience time.Duration // 0 for ever
	takes    time.Duration
	end      outcome

	started, ended time.Duration // since the program began; -1 if it never was
	err            error
}

func newProgram(seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &program{rand: r}
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	p.limits = Limits{
		RPM:         pick(0, 7, 60, 60, 600, 5000),
		TPM:         pick(0, 0, 1000, 30_000),
		Concurrency: pick(0, 0, 1, 5, 30),
		Adaptive:    []Adaptive{AdaptOff, AdaptOff, AdaptRate, AdaptConcurrency, AdaptAuto}[r.IntN(5)],
	}
	if p.limits.RPM > 0 || p.limits.TPM > 0 {
		p.limits.Burst = time.Duration(pick(0, 0, 3, 20)) * time.Second
	}
	return p
}

func (p *program) run(t *testing.T) {
	p.scope, p.begun = NewScope(p.limits), time.Now()
	var wg sync.WaitGroup
	span := time.Duration(1+p.rand.IntN(300)) * time.Second
	for i := range 20 + p.rand.IntN(180) {
		c := p.caller(span)
		c.comes += time.Duration(i) // no two at once, so that their order is known
		wg.Go(func() { p.call(t, c) })
	}
	wg.Wait()
	p.check(t)
}

func (p *program) caller(span time.Duration) *caller {
	r := p.rand
	c := &caller{
		comes: time.Duration(r.Int64N(int64(span))).Truncate(time.Second), started: -1, ended: -1,
		takes: time.Duration(r.IntN(20_000)) * time.Millisecond,
	}
	most := 1000
	if p.limits.TPM > 0 {
		most = p.limits.TPM / (1 + r.IntN(20))
		c.tokens = int64(r.IntN(most + 1))
	}
	if r.IntN(4) == 0 {
		c.patience = time.Duration(1 + r.Int64N(int64(time.Minute)))
	}
	c.end = good(int64(r.IntN(most)), 0)
	switch r.IntN(16) {
	case 0, 1:
		c.end = bad(busy(nil))
	case 2:
		c.end = bad(busy(new(time.Duration(r.IntN(150)) * time.Second)))
	case 3:
		c.end = bad(&llm.Error{Kind: llm.KindServer, Usage: llm.Usage{Input: 5, Known: true}})
	case 4:
		c.end = outcome{sent: true}
	case 5:
		c.end.sent = false
	case 6:
		c.end.resp.Replayed = true
	case 7, 8:
		c.end.resp.RateLimit = &llm.RateLimit{
			Requests: llm.Window{Limit: new(int64(60 + r.IntN(3))), Remaining: new(int64(r.IntN(60)))},
			Tokens:   llm.Window{Limit: new(int64(2000)), Remaining: new(int64(r.IntN(2000)))},
		}
	}
	return c
}

func (p *program) call(t *testing.T, c *caller) {
	defer func() {
		p.mu.Lock()
		p.done = append(p.done, c)
		p.mu.Unlock()
	}()
	time.Sleep(c.comes)
	ctx := context.Background()
	if c.patience > 0 {
		patient, cancel := context.WithTimeout(ctx, c.patience)
		defer cancel()
		ctx = patient
		if c.patience%2 == 0 { // no deadline that could be known
			cancelled, stop := context.WithCancel(context.Background())
			defer context.AfterFunc(patient, stop)()
			ctx = cancelled
		}
	}
	came := time.Since(p.begun)
	g, waits, err := p.scope.admit(ctx, c.tokens)
	assert.Equal(t, time.Since(p.begun)-came, waits.Total(), "waits are told exactly")
	if c.err = err; err != nil {
		known := errors.Is(err, ErrNoTime) || errors.Is(err, ErrTooLong) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
		assert.True(t, known, "%v", err)
		return
	}
	p.mu.Lock()
	c.started = time.Since(p.begun)
	p.inFlight++
	p.top = max(p.top, p.inFlight)
	p.mu.Unlock()
	assert.Zero(t, p.scope.Stats().PausedUntil, "nothing starts during a pause")
	time.Sleep(c.takes)
	p.mu.Lock()
	c.ended = time.Since(p.begun)
	p.inFlight--
	p.mu.Unlock()
	g.end(c.end)
}

// counted reports that a call was made.
func (c *caller) counted() bool {
	return c.started >= 0 && c.end.sent && !c.end.resp.Replayed
}

// charged is what a call counted as at a time, at least.
func (c *caller) charged(at time.Duration) int64 {
	usage := c.end.resp.Usage
	var e *llm.Error
	if errors.As(c.end.err, &e) {
		usage = e.Usage
	}
	took := usage.Input + usage.Output
	switch {
	case at == c.ended && c.counted() && usage.Known:
		return min(took, c.tokens) // either, in the same moment
	case at < c.ended || c.counted() && !usage.Known:
		return c.tokens
	case !c.counted():
		return 0
	}
	return took
}

func (p *program) check(t *testing.T) {
	var made []*caller
	var at []time.Duration
	for _, c := range p.done {
		if c.counted() {
			made, at = append(made, c), append(at, c.started)
		}
	}
	slices.SortFunc(made, func(a, b *caller) int { return int(a.started - b.started) })
	extra := func(perMin int) int { return int(int64(perMin) * int64(p.limits.Burst) / int64(time.Minute)) }
	if rpm := p.limits.RPM; rpm > 0 {
		assert.LessOrEqual(t, most(at, time.Minute), rpm+extra(rpm), "RPM")
	}
	if tpm := p.limits.TPM; tpm > 0 {
		for i, c := range made {
			sum := int64(0)
			for j := i; j >= 0 && made[j].started > c.started-time.Minute; j-- {
				sum += made[j].charged(c.started)
			}
			assert.LessOrEqual(t, sum-c.charged(c.started)+c.tokens, int64(tpm+extra(tpm)), "TPM at %v", c.started)
		}
	}
	if n := p.limits.Concurrency; n > 0 {
		assert.LessOrEqual(t, p.top, n, "Concurrency")
	}
	p.checkOrder(t)
	p.checkRest(t, made)
}

// checkOrder: first come, first served.
func (p *program) checkOrder(t *testing.T) {
	slices.SortFunc(p.done, func(a, b *caller) int { return int(a.comes - b.comes) })
	latest := time.Duration(0)
	for _, c := range p.done {
		if c.started >= 0 {
			assert.GreaterOrEqual(t, c.started, latest, "who came at %v was overtaken", c.comes)
			latest = max(latest, c.started)
		}
	}
}

// checkRest: when all is over, nothing is held, owed or left.
func (p *program) checkRest(t *testing.T, made []*caller) {
	s := p.scope
	stats := s.Stats()
	assert.Zero(t, stats.InFlight)
	assert.Zero(t, stats.Waiting)
	assert.Equal(t, ages{pauses: s.ages.pauses}, s.ages)
	assert.Equal(t, int64(len(made)), stats.Starts)
	assert.Zero(t, s.reserved)
	assert.Nil(t, s.timer)
	if p.limits.TPM > 0 {
		sum := int64(0)
		for _, c := range made {
			sum += c.charged(time.Hour)
		}
		assert.Equal(t, sum, s.charged, "tokens are neither lost nor made")
	}
	time.Sleep(10 * time.Minute)
	s.quotas.window.expire(s.begin())
	assert.Zero(t, s.quotas.window.n)
	assert.Zero(t, s.quotas.window.requests)
	assert.Zero(t, s.quotas.window.tokens)
	to, _ := s.next(int64(p.limits.TPM), s.begin())
	assert.Equal(t, ready, to, "a quiet time makes all free")
}
