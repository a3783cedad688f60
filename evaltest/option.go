package evaltest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/goevals/evals/evaltest/batch"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/cassette"
)

// An Option sets something about a run. The options are those of this package;
// [Options] groups them, and a nil Option does nothing. A later option wins
// over an earlier one, the environment over options, a flag over both.
//
// A value that makes no sense does not panic where the option is made, which
// is mostly a package variable: [Run] and [Benchmark] fail with it.
type Option interface {
	apply(s *settings)
}

type optionFunc func(*settings)

func (f optionFunc) apply(s *settings) { f(s) }

type optionList []Option

func (l optionList) apply(s *settings) {
	for _, o := range l {
		if o != nil {
			o.apply(s)
		}
	}
}

// Options groups options into one, such as what all tests of a package share.
func Options(opts ...Option) Option { return optionList(append([]Option(nil), opts...)) }

// Grader says how answers are graded. Needed: [Run] refuses to guess.
func Grader(g grade.Grader) Option { return optionFunc(func(s *settings) { s.grader = g }) }

// Judge is asked about answers in which the grader found nothing to compare,
// after the last attempt.
func Judge(g grade.Grader) Option { return optionFunc(func(s *settings) { s.judge = g }) }

// JudgeIncorrect also asks the judge about answers graded incorrect. Without a
// [Judge] it is refused.
func JudgeIncorrect() Option { return optionFunc(func(s *settings) { s.judgeIncorrect = true }) }

// Parallel is how many items are worked on at once, at least 1; the default is
// 16. It does not depend on -test.parallel and GOMAXPROCS: items wait for
// models, not for processors. EVALTEST_PARALLEL, -evaltest.parallel.
func Parallel(n int) Option { return atLeast("Parallel", n, 1, func(s *settings) { s.parallel = n }) }

// Attempts is the most attempts that an item gets, at least 1; the default is
// 3. EVALTEST_ATTEMPTS, -evaltest.attempts.
func Attempts(n int) Option { return atLeast("Attempts", n, 1, func(s *settings) { s.attempts = n }) }

// Samples is how many independent answers are asked of each item, at least 1;
// the default is 1. The summary then also has pass@k, pass^k, the majority and how
// the scores' variance splits. Sample k of an item is a subtest of its own, with "~sk"
// after the item's name for k > 0. EVALTEST_SAMPLES, -evaltest.samples.
func Samples(n int) Option { return atLeast("Samples", n, 1, func(s *settings) { s.samples = n }) }

// Limit takes the first n items of the dataset, at least 1.
// EVALTEST_LIMIT, -evaltest.limit; there, all takes back the limit.
func Limit(n int) Option {
	return atLeast("Limit", n, 1, func(s *settings) { s.limit, s.sample = n, sampling{} })
}

// Sample takes n items of the dataset at random, at least 1, the same ones for
// the same seed. EVALTEST_SAMPLE and -evaltest.sample take n or n/seed.
func Sample(n int, seed uint64) Option {
	return atLeast("Sample", n, 1, func(s *settings) { s.limit, s.sample = 0, sampling{n, seed} })
}

// Part takes the i-th of n parts of the dataset, i from 1 to n, so that n
// processes share the work: its [dataset.Shard]. Limit and
// Sample are then of the part. Gates judge the part alone, and a [Baseline] of
// the whole is not compared: "evals merge" makes one run of the parts' journals,
// and "evals stat" compares that. A budget is each process's own.
// EVALTEST_PART and -evaltest.part take i/n; there, none takes it back.
func Part(i, n int) Option {
	return optionFunc(func(s *settings) {
		if n < 1 || i < 1 || i > n {
			s.refuse(fmt.Sprintf("Part(%d, %d): parts count from 1 to n", i, n))
			return
		}
		s.part = parting{i, n}
	})
}

// IDs takes the items with these ids; an unknown one is an error. The run is
// then narrowed: every item is an assertion, accuracy gates are not evaluated.
// EVALTEST_IDS and -evaltest.ids take ids with commas between, or a JSON list.
func IDs(ids ...string) Option {
	return optionFunc(func(s *settings) {
		if len(ids) == 0 {
			s.refuse("IDs(): want at least one id")
		}
		s.ids = slices.Clone(ids)
	})
}

// Resume goes on with an earlier run: items that have an answer there are
// shown as they ended, without calling anybody, and the rest runs. The result
// is that of an uninterrupted run. Items that ended in an error run again.
// Journal is a path, or "latest" for the latest unfinished journal of this
// test. A run of another dataset, strategy, grader, judge, or of another
// number of attempts or samples is refused, and so is one that asks in another
// way: of [Ask], the request of the first item, by id, is compared with all its
// settings.
// EVALTEST_RESUME and -evaltest.resume take 1 for latest, or a path.
func Resume(journal string) Option {
	return optionFunc(func(s *settings) {
		if journal == "" {
			s.refuse(`Resume(""): want the path of a journal, or "latest"`)
		}
		s.resume = journal
	})
}

// Failed takes only the items that were not correct in the test's latest
// journal, first those that its [Baseline] had as correct. The run is then narrowed, as with [IDs]. EVALTEST_FAILED,
// -evaltest.failed.
func Failed() Option { return optionFunc(func(s *settings) { s.failed = true }) }

// Dir is the folder under which journals are kept, by module, package and
// test; the default is goevals/journals in the user's cache folder. A folder
// inside the module keeps go test from caching replayed runs.
// EVALTEST_DIR, -evaltest.dir.
func Dir(path string) Option {
	return optionFunc(func(s *settings) {
		if path == "" {
			s.refuse(`Dir(""): want a folder`)
		}
		s.dir = path
	})
}

// Timeout bounds one item with all its attempts; the default is 5 minutes.
// EVALTEST_TIMEOUT, -evaltest.timeout.
func Timeout(d time.Duration) Option {
	return positive("Timeout", d, func(s *settings) { s.itemTimeout = d })
}

// AttemptTimeout bounds one attempt at an item; the default is 2 minutes.
// EVALTEST_ATTEMPT_TIMEOUT, -evaltest.attempt-timeout.
func AttemptTimeout(d time.Duration) Option {
	return positive("AttemptTimeout", d, func(s *settings) { s.attemptTimeout = d })
}

// RunTimeout bounds the run: no item begins that would not end in time, judged
// by those before it, and what is still under way when it is over is ended and
// not run. The run then fails and says how to go on. Default: none, but the
// test's own deadline (-timeout), which is kept in any case.
// EVALTEST_RUN_TIMEOUT, -evaltest.run-timeout.
func RunTimeout(d time.Duration) Option {
	return positive("RunTimeout", d, func(s *settings) { s.runTimeout = d })
}

// Scope is whose quota the strategy's calls use: it spaces them out as its
// limits say (requests and tokens a minute, calls at once) and pauses all of
// them together when the provider says that it is too much. Make one for each
// account and key with [call.NewScope], and give it to all tests that use that
// account; see call.Limits.Share for tests of several packages. Items begin as
// its limits let them call, so that none uses up its time in line, however many
// [Parallel] allows. Default: one of the run's own, without limits.
func Scope(sc *call.Scope) Option {
	return optionFunc(func(s *settings) {
		if sc == nil {
			s.refuse("Scope(nil): want one made by call.NewScope")
		}
		s.scope = sc
	})
}

// MaxCost is the most that the run may spend, in US dollars, as a decimal such
// as "2.50", judges and failed calls included: when it is spent no further
// attempt and no further item begins, and the run fails. It is overrun by no
// more than the calls then in flight. Answers that a run resumes or replays
// cost nothing. A call that cannot be priced ends the run: what is unknown is
// not free. See [call.Budget]. EVALTEST_MAX_COST, -evaltest.max-cost; there,
// none takes back the limit.
func MaxCost(usd string) Option {
	return optionFunc(func(s *settings) {
		if err := checkCost(usd); err != nil {
			s.refuse(fmt.Sprintf("MaxCost(%q): %v", usd, err))
			return
		}
		s.maxCost = usd
	})
}

func checkCost(usd string) error {
	if usd == "" {
		return errors.New(`want US dollars as a decimal, such as "2.50"`)
	}
	return call.Caps{MaxUSD: usd}.Check()
}

// MaxTokens is the most tokens that the run may take, input and output
// together, at least 1; for the rest see [MaxCost]. EVALTEST_MAX_TOKENS,
// -evaltest.max-tokens; there, none takes back the limit.
func MaxTokens(n int) Option {
	return atLeast("MaxTokens", n, 1, func(s *settings) { s.maxTokens = n })
}

// MaxErrored is how many answers may end as errored; the default is 0.
// EVALTEST_MAX_ERRORED, -evaltest.max-errored.
func MaxErrored(n int) Option {
	return atLeast("MaxErrored", n, 0, func(s *settings) { s.gate.MaxErrored = n })
}

// MaxUngraded is how many answers may end as ungraded because a judge gave no
// legal verdict; the default is 0. EVALTEST_MAX_UNGRADED,
// -evaltest.max-ungraded.
func MaxUngraded(n int) Option {
	return atLeast("MaxUngraded", n, 0, func(s *settings) { s.gate.MaxUngraded = n })
}

// MinAccuracy is the least share of correct answers, 0 to 1, that the whole
// dataset must reach. With it, an item that is not correct ends as a skipped
// subtest whose reason is its outcome, and the gate decides; without, such an
// item fails its subtest. See [gate.Config] for how it is compared, and
// [LowerBound] for another way.
// EVALTEST_MIN_ACCURACY, -evaltest.min-accuracy; there, none takes back the
// gate.
func MinAccuracy(share float64) Option {
	return optionFunc(func(s *settings) {
		if err := (gate.Config{MinAccuracy: &share}).Check(); err != nil {
			s.refuse(fmt.Sprintf("MinAccuracy(%v): %v", share, err))
			return
		}
		s.gate.MinAccuracy = &share
	})
}

// Cassette records or replays the calls that the strategy makes through
// llm/wire, in the file at path. The mode is cassette.Replay unless another is
// given: a call without a recording is then an error, and the network is never
// used. With cassette.Off the model is asked live and nothing is stored.
// EVALTEST_CASSETTE and -evaltest.cassette take replay, record, auto or off for
// all tests that have a Cassette.
func Cassette(path string, mode ...cassette.Mode) Option {
	return optionFunc(func(s *settings) {
		if path == "" {
			s.refuse(`Cassette(""): want a file`)
			return
		}
		if len(mode) > 1 {
			s.refuse(fmt.Sprintf("Cassette(%q, %v): want one mode", path, mode))
			return
		}
		s.cassette, s.cassetteMode = path, cassette.Replay
		if len(mode) == 1 {
			parsed, err := cassette.ParseMode(string(mode[0]))
			if err != nil {
				s.refuse(fmt.Sprintf("Cassette(%q, %q): %v", path, mode[0], err))
			}
			s.cassetteMode = parsed
		}
	})
}

// CassetteOptions says how the [Cassette] records and compares: secrets that
// must not be stored, fields that do not count, and so on. The mode in o is
// not used.
func CassetteOptions(o cassette.Options) Option {
	return optionFunc(func(s *settings) { s.cassetteOptions = o })
}

// Offline says that the answers depend on nothing but the test's own code and
// files in its module: no network, no model, no clock. A passing result may
// then be served from go test's cache until one of these changes.
func Offline() Option { return optionFunc(func(s *settings) { s.offline = true }) }

// Price says what a call cost in US dollars, as an exact decimal such as
// "0.000123"; false if it is not known. It is not asked where the provider says
// itself what a call cost. Default: the list prices of package price, and
// unknown for a model that they do not have.
func Price(f func(llm.Response) (usd string, ok bool)) Option {
	return optionFunc(func(s *settings) { s.price = f })
}

func atLeast(name string, n, least int, set func(*settings)) Option {
	return optionFunc(func(s *settings) {
		if n < least {
			s.refuse(fmt.Sprintf("%s(%d): want a number of at least %d", name, n, least))
			return
		}
		set(s)
	})
}

func positive(name string, d time.Duration, set func(*settings)) Option {
	return optionFunc(func(s *settings) {
		if d <= 0 {
			s.refuse(fmt.Sprintf("%s(%v): want a duration above 0", name, d))
			return
		}
		set(s)
	})
}

// sampling is what Sample asks for; n is 0 for none.
type sampling struct {
	n    int
	seed uint64
}

// parting is the i-th of n parts; n is 0 for the whole.
type parting struct{ i, n int }

// settings is what options, environment and flags came to.
type settings struct {
	grader, judge   grade.Grader
	judgeIncorrect  bool
	parallel        int
	attempts        int
	samples         int
	limit           int
	sample          sampling
	part            parting
	ids             []string
	resume          string
	failed          bool
	dir             string
	itemTimeout     time.Duration
	attemptTimeout  time.Duration
	runTimeout      time.Duration
	scope           *call.Scope
	maxCost         string
	maxTokens       int
	gate            gate.Config
	baseline        string // a file; "" for none
	unbased         bool   // it was taken back
	update          bool   // write it
	confirm         int    // how often broken items are asked again
	curtail         bool
	planning        bool // ask nobody
	calibration     *judge.Calibration
	agreement       *float64 // least kappa
	first           []string // ids of items that are asked first
	reselected      bool     // limit, sample or part come from outside of the code
	cassette        string
	cassetteMode    cassette.Mode
	cassetteOptions cassette.Options
	offline         bool
	price           func(llm.Response) (string, bool)

	refused []string // what is wrong with the options, in order
}

func defaults() settings {
	return settings{
		parallel: batch.DefaultParallel, attempts: run.DefaultAttempts, samples: 1,
	}
}

func (s *settings) refuse(text string) { s.refused = append(s.refused, "evaltest."+text) }
