package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// Calibration says how a machine is measured. The zero value works.
type Calibration struct {
	// Fast and Paced are fake servers in another process, of which one answers
	// at once and one has Gap as its TTFT and ITL: "evals load -calibrate" starts
	// them. Give both or neither. Default: servers in this process, with which
	// the client then shares its processors, so that the ceiling is lower.
	Fast, Paced string
	// Users are how many requests the closed loop has in flight, up to 65,536.
	// Default: 64.
	Users int
	// Streams are read at once, up to 65,536, of Gap between tokens, up to an
	// hour. Default: 300 and 20 ms.
	Streams int
	ITL     time.Duration
	// Rate is the arrivals a second of the open loop, up to [arrival.MaxRate].
	// Default: 1000.
	Rate float64
	// For is how long each of the measurements takes, up to an hour. Default: 5 s.
	For time.Duration
}

// CeilingSchema is the version of a Ceiling's JSON.
const CeilingSchema = "evals-load-ceiling/1"

// A Ceiling is what a machine, its network stack and this client can do at most,
// measured against a server that does nothing. A run that comes near it measures
// the client.
type Ceiling struct {
	Schema string `json:"schema"` // [CeilingSchema]
	// Requests is answers a second of a closed loop, whole and of one token, and
	// RequestCPU the share of the processors that this took.
	Requests   metric.Figure `json:"requests_per_s"`
	RequestCPU metric.Figure `json:"requests_cpu_share"`
	// Tokens is events of streams a second, as fast as they come.
	Tokens   metric.Figure `json:"stream_tokens_per_s"`
	TokenCPU metric.Figure `json:"stream_cpu_share"`
	// TTFTP50 and TTFTP99 are the times to the first token of a server that
	// answers at once, one request at a time: no TTFT below it means anything.
	TTFTP50 time.Duration `json:"ttft_floor_p50_ns"`
	TTFTP99 time.Duration `json:"ttft_floor_p99_ns"`
	// ITLOffP50 and ITLOffP99 are by how much the gaps between tokens of Streams paced
	// streams were off, the server's own lateness included: the noise floor of
	// ITL. PacedCPU is what that took.
	Streams   int           `json:"paced_streams"`
	ITL       time.Duration `json:"paced_itl_ns"`
	ITLOffP50 time.Duration `json:"paced_itl_off_p50_ns"`
	ITLOffP99 time.Duration `json:"paced_itl_off_p99_ns"`
	PacedCPU  metric.Figure `json:"paced_cpu_share"`
	// Asked and Achieved are arrivals a second of an open loop, LagP99 how late
	// they were sent.
	Asked    metric.Figure `json:"arrivals_asked_per_s"`
	Achieved metric.Figure `json:"arrivals_achieved_per_s"`
	LagP99   time.Duration `json:"arrivals_lag_p99_ns"`
	// Shared says that the server ran in this process.
	Shared bool `json:"server_in_process"`
}

// Calibrate measures this machine. It takes some five and a half times For. An
// option that cannot be used is an *[OptionError]; where a measurement fails, or
// ctx ends, what was measured before it is returned with the error.
func Calibrate(ctx context.Context, c Calibration) (*Ceiling, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	out := &Ceiling{Schema: CeilingSchema, Shared: c.Fast == "", Streams: c.Streams, ITL: c.ITL}
	fast, paced, stop, err := c.servers()
	if err != nil {
		return nil, err
	}
	defer stop()
	for _, step := range []func() error{
		func() error { return c.requests(ctx, fast, out) },
		func() error { return c.tokens(ctx, fast, out) },
		func() error { return c.first(ctx, fast, out) },
		func() error { return c.paced(ctx, paced, out) },
		func() error { return c.arrivals(ctx, fast, out) },
	} {
		if err := step(); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (c *Calibration) fill() error {
	if (c.Fast == "") != (c.Paced == "") {
		return &OptionError{"Fast, Paced", fmt.Sprintf("%q, %q", c.Fast, c.Paced), "give both servers or neither"}
	}
	for _, o := range []struct {
		name  string
		value *int
		most  int
		std   int
	}{{"Users", &c.Users, 1 << 16, 64}, {"Streams", &c.Streams, 1 << 16, 300}} {
		if *o.value < 0 || *o.value > o.most {
			return &OptionError{o.name, *o.value, fmt.Sprintf("want 1 to %d, or 0 for %d", o.most, o.std)}
		}
		if *o.value == 0 {
			*o.value = o.std
		}
	}
	for _, o := range []struct {
		name  string
		value *time.Duration
		std   time.Duration
	}{{"ITL", &c.ITL, 20 * time.Millisecond}, {"For", &c.For, 5 * time.Second}} {
		if *o.value < 0 || *o.value > time.Hour {
			return &OptionError{o.name, *o.value, fmt.Sprintf("want up to an hour, or 0 for %v", o.std)}
		}
		if *o.value == 0 {
			*o.value = o.std
		}
	}
	if c.Rate == 0 {
		c.Rate = 1000
	}
	if !(c.Rate > 0 && c.Rate <= arrival.MaxRate) {
		return &OptionError{"Rate", c.Rate, fmt.Sprintf("want arrivals a second, above 0 and at most %g", arrival.MaxRate)}
	}
	return nil
}

// servers are the URLs of a server that answers at once and one that paces.
func (c *Calibration) servers() (fast, paced string, stop func(), err error) {
	if c.Fast != "" {
		return c.Fast, c.Paced, func() {}, nil
	}
	fast, stopFast, err := (&fake.Server{}).Start()
	if err != nil {
		return "", "", nil, fmt.Errorf("load: the server to calibrate with: %w", err)
	}
	paced, stopPaced, err := (&fake.Server{TTFT: c.ITL, ITL: c.ITL}).Start()
	if err != nil {
		stopFast()
		return "", "", nil, fmt.Errorf("load: the server to calibrate with: %w", err)
	}
	return fast, paced, func() { stopFast(); stopPaced() }, nil
}

// unlimited switches off all that makes a run invalid: a calibration looks for
// where that begins.
var unlimited = metric.Limits{LagP99: -1, LagMax: -1, Wakeup: -1, CPU: -1, GCPause: -1, Achieved: -1, Unfinished: -1, Cached: -1}

// base is a load of small prompts.
func (c *Calibration) base(url string, output int) (Load, error) {
	source, err := workload.New(workload.Options{
		Text: token.Words{}, Input: workload.Must(workload.Fixed(32, 0)), Output: workload.Must(workload.Fixed(output, 0)),
	})
	return Load{
		Client: client.Config{Host: url, Model: "fake"}, Source: source, Users: c.Users, Metric: metric.Config{Limits: unlimited},
		// The measured part begins with its first request, so that a machine which
		// stands still has something to measure.
		Phases: arrival.Phases{Warmup: arrival.Limit{Count: 4 * c.Users}, Measured: arrival.Limit{For: c.For}},
	}, err
}

func (c *Calibration) requests(ctx context.Context, url string, out *Ceiling) error {
	l, err := c.base(url, 1)
	if err != nil {
		return err
	}
	l.ModifyPrompt = func(p *client.Prompt) { p.Whole = true }
	rep, err := measure(ctx, l)
	if err != nil {
		return err
	}
	out.Requests, out.RequestCPU = rep.Result.Whole.RequestRate, rep.Result.Health.CPU
	return nil
}

func (c *Calibration) tokens(ctx context.Context, url string, out *Ceiling) error {
	l, err := c.base(url, 1000)
	if err != nil {
		return err
	}
	rep, err := measure(ctx, l)
	if err != nil {
		return err
	}
	out.Tokens, out.TokenCPU = rep.Result.Whole.OutputRate, rep.Result.Health.CPU
	return nil
}

func (c *Calibration) first(ctx context.Context, url string, out *Ceiling) error {
	l, err := c.base(url, 1)
	if err != nil {
		return err
	}
	l.Users, l.Phases.Warmup.Count = 1, 4
	rep, err := measure(ctx, l)
	if err != nil {
		return err
	}
	d := rep.Result.Dists[metric.TTFT]
	out.TTFTP50, out.TTFTP99 = span(d.At(0.5).Value), span(d.At(0.99).Value)
	return nil
}

func (c *Calibration) paced(ctx context.Context, url string, out *Ceiling) error {
	l, err := c.base(url, max(2, int(c.For/c.ITL)))
	if err != nil {
		return err
	}
	l.Users, l.RequestsPerUser, l.Join, l.Phases = c.Streams, 1, c.For/5, arrival.Phases{} // not all at the same moment
	var mu sync.Mutex
	var off []time.Duration
	l.Sink = func(r *record.Request) error {
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i < len(r.Fragments); i++ {
			off = append(off, (r.Fragments[i].At - r.Fragments[i-1].At - c.ITL).Abs())
		}
		return nil
	}
	rep, err := measure(ctx, l)
	if err != nil {
		return err
	}
	slices.Sort(off)
	if len(off) > 0 {
		out.ITLOffP50, out.ITLOffP99 = off[len(off)/2], off[len(off)*99/100]
	}
	out.PacedCPU = rep.Result.Health.CPU
	return nil
}

func (c *Calibration) arrivals(ctx context.Context, url string, out *Ceiling) error {
	l, err := c.base(url, 1)
	if err != nil {
		return err
	}
	l.Users, l.Schedule = 0, arrival.Poisson(c.Rate)
	rep, err := measure(ctx, l)
	if err != nil {
		return err
	}
	out.Asked, out.Achieved = metric.Some(rep.Arrivals.Measured.Asked), metric.Some(rep.Arrivals.Measured.Achieved)
	out.LagP99 = span(rep.Result.Dists[metric.Lag].At(0.99).Value)
	return nil
}

// measure runs a load of which nothing may fail.
func measure(ctx context.Context, l Load) (*Report, error) {
	rep, err := Run(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := rep.Problem(); err != nil && !errors.Is(err, ErrInvalid) {
		return nil, err
	}
	if n := rep.Result.Counts.Failed; n > 0 {
		return nil, fmt.Errorf("load: calibration: %d of %d requests to the fake server failed, first: %v", n, rep.Result.Counts.Due, rep.Result.Errors[0])
	}
	return rep, nil
}

// span is a figure of time; 0 where it is not known.
func span(f metric.Figure) time.Duration {
	v, _ := f.Get()
	return time.Duration(v)
}
