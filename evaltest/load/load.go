package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// Defaults of a Load.
const (
	DefaultMaxInFlight = 8192
	DefaultLookahead   = 256
	DefaultTick        = time.Second
)

const (
	maxLookahead = 1 << 20
	ofUsers      = "it is of a closed loop's users, and this load has a Schedule"
)

// ErrConfig is what errors about a Load, or Agents, that makes no sense are. The
// error is an *[OptionError], or wraps the error of the package that found it.
var ErrConfig = errors.New("bad option")

// An OptionError says which option cannot be used, and why.
type OptionError struct {
	Option string // the field
	Value  any    // as given
	Want   string // what would do
}

// Error names the option and its value.
func (e *OptionError) Error() string {
	return fmt.Sprintf("load: %s is %v: %s", e.Option, e.Value, e.Want)
}

// Unwrap returns ErrConfig.
func (e *OptionError) Unwrap() error { return ErrConfig }

// A Load is what a server is asked and when. Client and Source are needed, and
// either Users, for a closed loop, or Schedule, for an open one. A Load is not
// changed by running it; it may be run again, and with the same Seed and Source
// sends the same bytes. Two runs at once in one process work, and each sees the
// other's work in its own share of the processors.
type Load struct {
	// Client says which server and how. Its Concurrency is set by Run: Users, or
	// MaxInFlight.
	Client client.Config
	// Source makes the requests. In a closed loop the request that user u sends
	// as its r-th is number r·Users+u of the source ([workload.Entry]), whoever
	// is faster; of a source that ends, without RequestsPerUser, the users take
	// the next one that is left. In an open loop the n-th arrival is number n.
	Source workload.Source
	// ModifyPrompt changes each prompt before its body is made: Whole, IgnoreEOS,
	// Extra and so on. It is called from several goroutines, before requests are
	// due, and not for whole bodies of a file. Default: nothing is changed.
	ModifyPrompt func(*client.Prompt)

	// Users is how many users a closed loop has. Each of them has one request
	// in flight, and sends the next when it is answered.
	Users int
	// RequestsPerUser is how many requests a user makes; 0: no limit but the
	// phases' and the source's.
	RequestsPerUser int
	// Think, Every and Join are as in [arrival.Closed].
	Think, Every arrival.Dist
	Join         time.Duration

	// Schedule says when requests of an open loop are due, whatever is in
	// flight.
	Schedule arrival.Schedule
	// MaxInFlight is how many requests of an open loop are in flight at most:
	// what is due beyond it is dropped and counts as bad. Requests never wait
	// for each other, which would make a closed loop of it. A single drop makes
	// the run invalid. Default: [DefaultMaxInFlight], or half of the descriptors
	// that this process may have, if that is less.
	MaxInFlight int

	// Phases are the warm-up, the measured part and the cool-down. Default: all
	// is measured. A cool-down with a For of [arrival.Forever] keeps the load on
	// until the last measured request is answered.
	Phases arrival.Phases
	// Drain is how long requests in flight are waited for when nothing more is
	// due; those left are incomplete, and more than a hundredth of them makes an
	// open loop invalid: no time is of them. Default: until all have ended, which the
	// client's timeouts see to.
	Drain time.Duration

	// Seed is the root of arrivals, think times and jitter. The source has its
	// own. Default: drawn; the report has it.
	Seed uint64
	// Lookahead is how many requests are made before they are due; at least one
	// a user. Default: [DefaultLookahead]. Requests of 100,000 tokens take half
	// a megabyte each.
	Lookahead int
	// Waiter waits for each arrival. Default: [arrival.Spin] in an open loop, if
	// Go has more than one processor to run on; else [arrival.Sleep].
	Waiter arrival.Waiter

	// Metric says how the requests are judged. Loop, Users, Rate, Expected and
	// Shape are set by Run.
	Metric metric.Config
	// Sink gets every finished request, in the order in which they ended, from
	// one goroutine; it must not keep it. An error ends the run. Default:
	// nobody does. Up to 1,024 wait for a slow sink; beyond that it holds back who
	// has finished, for as long as [Report.SinkWait] says. Where that is a
	// closed loop's users, more than a hundredth of their time makes the run
	// invalid. Run does not return before its last call has.
	Sink func(*record.Request) error
	// Verbose, if it is not nil, gets each request that was sent, when it has
	// ended, with the body and what came of an answer; it must keep none of
	// them. It is called from the goroutine of the request, so from many at
	// once, and a closed loop's user waits for it: it is for looking at what is
	// sent, not for measuring. Default: no answer is kept.
	Verbose func(rec *record.Request, body []byte, reply *client.Reply)
	// Progress is called every Tick with the counts so far, from one goroutine.
	// Default: nobody is told. Tick defaults to [DefaultTick].
	Progress func(Progress)
	Tick     time.Duration
}

// Progress is how far a run has got.
type Progress struct {
	metric.Progress
	// Elapsed is the time since the run began, InFlight how many requests have
	// no answer yet.
	Elapsed  time.Duration
	InFlight int
}

// open reports whether the load is an open loop.
func (l *Load) open() bool { return !noSchedule(l.Schedule) }

// noSchedule reports whether a schedule is the zero one: it has no arrivals at
// all, where a trace of one at 0 has one.
func noSchedule(s arrival.Schedule) bool {
	d, ends := s.Length()
	return ends && d == 0 && s.Expected(0, 1) == 0
}

// fill sets the defaults that are known before the client is, and refuses what
// makes no sense.
func (l *Load) fill() error {
	refuse := func(bad bool, option string, value any, want string) error {
		if !bad {
			return nil
		}
		return &OptionError{option, value, want}
	}
	err := errors.Join(
		refuse(l.Source == nil, "Source", "nil", "say what is to be asked: workload.New, workload.Load or workload.FromDataset"),
		refuse(l.Users < 0, "Users", l.Users, "want at least 1 for a closed loop, or 0 and a Schedule"),
		refuse(l.Users == 0 && !l.open(), "Users", 0, "want Users for a closed loop, or a Schedule for an open one"),
		refuse(l.Users > 0 && l.open(), "Users", l.Users, "a run is a closed loop or an open one: leave out Users or Schedule"),
		refuse(l.RequestsPerUser < 0, "RequestsPerUser", l.RequestsPerUser, "want at least 1, or 0 for no limit"),
		refuse(l.open() && l.RequestsPerUser > 0, "RequestsPerUser", l.RequestsPerUser, ofUsers),
		refuse(l.open() && l.Think != nil, "Think", "set", ofUsers),
		refuse(l.open() && l.Every != nil, "Every", "set", ofUsers),
		refuse(l.open() && l.Join != 0, "Join", l.Join, ofUsers),
		refuse(l.MaxInFlight < 0, "MaxInFlight", l.MaxInFlight, "want at least 1, or 0 for the default"),
		refuse(l.MaxInFlight > 0 && !l.open(), "MaxInFlight", l.MaxInFlight, "a closed loop has as many in flight as users"),
		refuse(l.Drain < 0, "Drain", l.Drain, "want a time above 0, or 0 to wait for all"),
		refuse(l.Lookahead < 0 || l.Lookahead > maxLookahead, "Lookahead", l.Lookahead, fmt.Sprintf("want 1 to %d, or 0 for the default", maxLookahead)),
		refuse(l.Tick < 0, "Tick", l.Tick, "want a time above 0, or 0 for the default"),
	)
	if err != nil {
		return err
	}
	if err := l.Phases.Check(); err != nil {
		return fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	if l.open() {
		err = l.Phases.Fits(l.Schedule)
	} else {
		err = l.loop().Check()
	}
	if err != nil {
		return fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	if n := l.Source.Len(); l.RequestsPerUser > 0 && n > 0 && l.RequestsPerUser > n/l.Users {
		return &OptionError{"RequestsPerUser", l.RequestsPerUser, fmt.Sprintf("%d users with so many requests each need %d, and the source has %d", l.Users, l.RequestsPerUser*l.Users, n)}
	}
	if l.Seed == 0 {
		l.Seed = workload.NewSeed()
	}
	if l.Lookahead == 0 {
		l.Lookahead = DefaultLookahead
	}
	if l.Tick == 0 {
		l.Tick = DefaultTick
	}
	return nil
}

// newClient returns the client, with room for what may be in flight.
func (l *Load) newClient() (*client.Client, error) {
	cfg := l.Client
	cfg.Seed = l.Seed
	if !l.open() {
		cfg.Concurrency = l.Users
	} else {
		if l.MaxInFlight == 0 {
			l.MaxInFlight = defaultInFlight(cfg)
		}
		cfg.Concurrency = l.MaxInFlight
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	return c, nil
}

// defaultInFlight leaves room for the files that a process has open besides.
func defaultInFlight(cfg client.Config) int {
	cfg.Concurrency = 1
	c, err := client.New(cfg)
	if err != nil {
		return DefaultMaxInFlight // newClient says what is wrong
	}
	defer c.Close()
	limits := c.Limits()
	n := DefaultMaxInFlight
	if d := limits.Descriptors; d > 0 && d < uint64(2*n) {
		n = max(1, int(d)/2)
	}
	return n
}

// rate is the arrivals a second that an open loop was asked for, in its measured
// part; 0 where that is not one number before the run.
func (l *Load) rate() float64 {
	if !l.open() {
		return 0
	}
	from := l.Phases.Warmup.For
	if l.Phases.Warmup.Count > 0 {
		return 0
	}
	span := l.Phases.Measured.For
	if end, ends := l.Schedule.Length(); span == 0 || span == arrival.Forever {
		switch {
		case !ends:
			span = time.Hour
		case end > from:
			span = end - from
		default:
			return 0
		}
	}
	return l.Schedule.Expected(from, from+span) / span.Seconds()
}

// random returns the generator of a stream of an agent.
func (l *Load) random(agent uint64, s workload.Stream) *rand.Rand {
	return workload.Rand(l.Seed, agent, s)
}
