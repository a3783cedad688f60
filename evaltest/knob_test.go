package evaltest

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm/cassette"
)

func TestKnobs(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	for _, row := range []struct {
		name, reason string
		opts         []Option
		env          map[string]string
		args         []string
		want         func(*settings)
	}{
		{"defaults", "nothing given", nil, nil, nil, func(*settings) {}},
		{"code", "an option", []Option{Parallel(4)}, nil, nil, func(s *settings) { s.parallel = 4 }},
		{"later option", "wins over an earlier one", []Option{Parallel(4), Options(nil, Parallel(5))}, nil, nil, func(s *settings) { s.parallel = 5 }},
		{"environment", "wins over code", []Option{Parallel(4)}, map[string]string{"EVALTEST_PARALLEL": "8"}, nil, func(s *settings) { s.parallel = 8 }},
		{"flag", "wins over both", []Option{Parallel(4)}, map[string]string{"EVALTEST_PARALLEL": "8"}, []string{"-evaltest.parallel=2"}, func(s *settings) { s.parallel = 2 }},
		{"empty variable", "is as good as none", []Option{Parallel(4)}, map[string]string{"EVALTEST_PARALLEL": ""}, nil, func(s *settings) { s.parallel = 4 }},
		{"limit all", "takes the code's limit back", []Option{Limit(4)}, map[string]string{"EVALTEST_LIMIT": "all"}, nil, func(s *settings) { s.reselected = true }},
		{"limit over sample", "one of the two", []Option{Sample(4, 1)}, map[string]string{"EVALTEST_LIMIT": "3"}, nil, func(s *settings) { s.reselected = true; s.reselected = true; s.limit = 3 }},
		{"sample", "with its seed", nil, nil, []string{"-evaltest.sample=10/7"}, func(s *settings) { s.reselected = true; s.sample = sampling{10, 7} }},
		{"part", "the environment over the code", []Option{Part(1, 2)}, map[string]string{"EVALTEST_PART": "3/4"}, nil, func(s *settings) { s.reselected = true; s.part = parting{3, 4} }},
		{"part with a limit", "both: so many of the part", []Option{Limit(5)}, nil, []string{"-evaltest.part=1/2"}, func(s *settings) { s.reselected = true; s.limit, s.part = 5, parting{1, 2} }},
		{"no part", "takes the code's back", []Option{Part(1, 2)}, map[string]string{"EVALTEST_PART": "none"}, nil, func(s *settings) { s.reselected = true }},
		{"ids", "with commas", nil, nil, []string{"-evaltest.ids=a,b"}, func(s *settings) { s.ids = []string{"a", "b"} }},
		{"ids as JSON", "for ids with commas", nil, map[string]string{"EVALTEST_IDS": `["a,b"]`}, nil, func(s *settings) { s.ids = []string{"a,b"} }},
		{"resume", "a flag without a value", nil, nil, []string{"-evaltest.resume"}, func(s *settings) { s.resume = latest }},
		{"resume a file", "its path", nil, map[string]string{"EVALTEST_RESUME": "x.jsonl"}, nil, func(s *settings) { s.resume = "x.jsonl" }},
		{"no resume", "the flag takes the variable back", nil, map[string]string{"EVALTEST_RESUME": "1"}, []string{"-evaltest.resume=0"}, func(*settings) {}},
		{"failed", "a flag without a value", nil, nil, []string{"-evaltest.failed"}, func(s *settings) { s.failed = true }},
		{"durations", "with units", nil, map[string]string{"EVALTEST_TIMEOUT": "90s", "EVALTEST_ATTEMPT_TIMEOUT": "1m"}, nil, func(s *settings) { s.itemTimeout, s.attemptTimeout = 90*time.Second, time.Minute }},
		{"gates", "0 is a limit", nil, map[string]string{"EVALTEST_MAX_ERRORED": "2", "EVALTEST_MAX_UNGRADED": "0", "EVALTEST_MIN_ACCURACY": "0.8"}, nil, func(s *settings) {
			s.gate.MaxErrored, s.gate.MinAccuracy = 2, share(0.8)
		}},
		{"no gate", "takes the code's gate back", []Option{MinAccuracy(0.9)}, map[string]string{"EVALTEST_MIN_ACCURACY": "none"}, nil, func(*settings) {}},
		{"cassette", "replays unless told otherwise", []Option{Cassette("c")}, nil, nil, func(s *settings) { s.cassette, s.cassetteMode = "c", cassette.Replay }},
		{"cassette recorded", "by the environment", []Option{Cassette("c")}, map[string]string{"EVALTEST_CASSETTE": "record"}, nil, func(s *settings) { s.cassette, s.cassetteMode = "c", cassette.Record }},
		{"cassette with options", "their mode is not used", []Option{Cassette("c"), CassetteOptions(cassette.Options{Ignore: []string{"user"}, Mode: cassette.Record})}, nil, nil, func(s *settings) {
			s.cassette, s.cassetteMode, s.cassetteOptions = "c", cassette.Replay, cassette.Options{Ignore: []string{"user"}, Mode: cassette.Record}
		}},
		{"no cassette", "asks live", []Option{Cassette("c")}, nil, []string{"-evaltest.cassette=off"}, func(s *settings) { s.cassette, s.cassetteMode = "c", cassette.Off }},
		{"budget", "", []Option{MaxCost("2.50"), MaxTokens(5)}, map[string]string{"EVALTEST_MAX_COST": "0.10", "EVALTEST_MAX_TOKENS": "none"}, nil, func(s *settings) { s.maxCost = "0.10" }},
		{"no budget", "takes the code's limits back", []Option{MaxCost("2.50"), RunTimeout(time.Hour)}, map[string]string{"EVALTEST_RUN_TIMEOUT": "90s"}, []string{"-evaltest.max-cost=none", "-evaltest.max-tokens=7"}, func(s *settings) {
			s.maxTokens, s.runTimeout = 7, 90*time.Second
		}},
		{"gates", "the environment over the code, a flag over both", []Option{Baseline("a"), MaxDrop(0.02), MinGroup("de", 0.8), MinGroups(0.7), MaxLatency(0.99, time.Second), Confirm(2), Alpha(0.1)},
			map[string]string{"EVALTEST_BASELINE": "b", "EVALTEST_MAX_DROP": "none", "EVALTEST_MIN_GROUP": "a=b=0.5", "EVALTEST_MAX_LATENCY": "p99.9=5s,p50=800ms", "EVALTEST_ON_MISMATCH": "warn", "EVALTEST_CURTAIL": "1", "EVALTEST_LOWER_BOUND": "true"},
			[]string{"-evaltest.confirm=0", "-evaltest.alpha=0.01", "-evaltest.update", "-evaltest.plan", "-evaltest.fail-not-enough", "-evaltest.min-groups=0.75"}, func(s *settings) {
				s.baseline, s.update, s.planning, s.curtail = "b", true, true, true
				s.gate = gate.Config{MinGroup: map[string]float64{"a=b": 0.5}, MinGroups: new(0.75), LowerBound: true, FailNotEnough: true,
					MaxLatency: []gate.Percentile{{P: 0.999, Max: 5 * time.Second}, {P: 0.5, Max: 800 * time.Millisecond}},
					Compare:    gate.CompareOptions{Alpha: 0.01, OnMismatch: Warn}}
			}},
		{"gates of the code", "", []Option{LowerBound(), FailNotEnough()}, nil, nil, func(s *settings) { s.gate.LowerBound, s.gate.FailNotEnough = true, true }},
		{"comparing", "leaves what has options of its own", []Option{Baseline("a"), Alpha(0.1), OnMismatch(Warn), Comparing(gate.CompareOptions{ByItem: true, Exact: true}), MaxDrop(0.5)}, nil, nil, func(s *settings) {
			s.baseline = "a"
			s.gate.Compare = gate.CompareOptions{Alpha: 0.1, OnMismatch: Warn, ByItem: true, Exact: true, MaxDrop: new(0.5)}
		}},
		{"no baseline", "what hangs on it means nothing then, and is not refused", []Option{Baseline("a"), MaxDrop(0.02), Confirm(2)}, map[string]string{"EVALTEST_BASELINE": "none"}, nil, func(s *settings) {
			s.unbased, s.confirm, s.gate.Compare.MaxDrop = true, 2, new(0.02)
		}},
		{"groups as JSON", "a name may hold anything", nil, map[string]string{"EVALTEST_MIN_GROUP": `{"x=1,y":0.5,"":0.25}`}, nil, func(s *settings) {
			s.gate.MinGroup = map[string]float64{"x=1,y": 0.5, "": 0.25}
		}},
		{"latency twice", "the later one for the same share", []Option{MaxLatency(0.5, time.Second), MaxLatency(0.9, 2*time.Second), MaxLatency(0.5, 3*time.Second)}, nil, nil, func(s *settings) {
			s.gate.MaxLatency = []gate.Percentile{{P: 0.9, Max: 2 * time.Second}, {P: 0.5, Max: 3 * time.Second}}
		}},
		{"dir", "", nil, map[string]string{"EVALTEST_DIR": "/x"}, nil, func(s *settings) { s.dir = "/x" }},
		{"attempts and samples", "", []Option{Attempts(2), Samples(3)}, nil, nil, func(s *settings) { s.attempts, s.samples = 2, 3 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			set := flag.NewFlagSet("test", flag.ContinueOnError)
			flags := knobFlags(set)
			require.NoError(t, set.Parse(row.args))
			asked := map[string]bool{}
			got, err := resolve(row.opts, func(name string) string { asked[name] = true; return row.env[name] }, flags)
			require.NoError(t, err)
			want := defaults()
			row.want(&want)
			assert.Equal(t, want, got, row.reason)
			assert.Len(t, asked, len(knobs), "every variable is read whatever the flags say: go test's cache remembers them")
		})
	}
}

func TestKnobsRefuse(t *testing.T) {
	for _, row := range []struct{ variable, value, want string }{
		{"EVALTEST_PARALLEL", "0", "at least 1"},
		{"EVALTEST_PARALLEL", "4x", "at least 1"},
		{"EVALTEST_ATTEMPTS", "-1", "at least 1"},
		{"EVALTEST_SAMPLES", "1.5", "at least 1"},
		{"EVALTEST_LIMIT", "none", "or all"},
		{"EVALTEST_SAMPLE", "/3", "n or n/seed"},
		{"EVALTEST_PART", "0/4", "i from 1 to n"},
		{"EVALTEST_PART", "5/4", "i from 1 to n"},
		{"EVALTEST_PART", "1", "i from 1 to n"},
		{"EVALTEST_PART", "1/4/2", "i from 1 to n"},
		{"EVALTEST_SAMPLE", "3/-1", "n or n/seed"},
		{"EVALTEST_MAX_COST", "$5", "US dollars as a decimal"},
		{"EVALTEST_MAX_COST", "-1", "US dollars as a decimal"},
		{"EVALTEST_MAX_TOKENS", "0", "at least 1, or none"},
		{"EVALTEST_MAX_TOKENS", "1e6", "at least 1, or none"},
		{"EVALTEST_RUN_TIMEOUT", "10", "with its unit"},
		{"EVALTEST_IDS", "a,,b", "ids with commas"},
		{"EVALTEST_IDS", "[1]", "JSON list of strings"},
		{"EVALTEST_FAILED", "maybe", "1 or 0"},
		{"EVALTEST_TIMEOUT", "30", "with its unit"},
		{"EVALTEST_TIMEOUT", "-1s", "above 0"},
		{"EVALTEST_MAX_ERRORED", "5%", "at least 0"},
		{"EVALTEST_MIN_ACCURACY", "NaN", "between 0 and 1"},
		{"EVALTEST_MIN_ACCURACY", "80", "write 0.8"},
		{"EVALTEST_MAX_DROP", "2", "want a drop of accuracy as a share"},
		{"EVALTEST_ALPHA", "0", "above 0 and below 0.5"},
		{"EVALTEST_ALPHA", "5%", "above 0 and below 0.5"},
		{"EVALTEST_ON_MISMATCH", "ignore", "refuse or warn"},
		{"EVALTEST_MIN_GROUPS", "80", "write 0.8"},
		{"EVALTEST_MIN_GROUP", "de", "group=share"},
		{"EVALTEST_MIN_GROUP", "{}", "group=share"},
		{"EVALTEST_MAX_LATENCY", "99=5s", "such as p99=5s"},
		{"EVALTEST_MAX_LATENCY", "p99=5", "such as p99=5s"},
		{"EVALTEST_MAX_LATENCY", "p0=5s", "above 0"},
		{"EVALTEST_CONFIRM", "-1", "at least 0"},
		{"EVALTEST_CURTAIL", "yes", "1 or 0"},
		{"EVALTEST_UPDATE", "testdata/x", "1 or 0"},
		{"EVALTEST_CASSETTE", "play", "replay, record, auto or off"},
	} {
		t.Run(row.variable+"="+row.value, func(t *testing.T) {
			_, err := resolve(nil, func(name string) string {
				if name == row.variable {
					return row.value
				}
				return ""
			}, nil)
			require.Error(t, err)
			assert.Contains(t, err.Error(), row.variable+`="`+row.value+`"`, "names the variable and its value")
			assert.Contains(t, err.Error(), row.want, "says what is allowed")
		})
	}
}

// TestKnobsAreDocumented keeps the options' documentation and the knobs alike.
func TestKnobsAreDocumented(t *testing.T) {
	var source []byte
	for _, name := range []string{"option.go", "gates.go", "forecast.go", "agreement.go"} {
		part, err := os.ReadFile(name)
		require.NoError(t, err)
		source = append(source, part...)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	knobFlags(set)
	for i := range knobs {
		assert.Contains(t, text, knobs[i].variable())
		assert.Contains(t, text, "-"+knobs[i].flagName())
		assert.NotNil(t, set.Lookup(knobs[i].flagName()))
	}
}

func TestOptionsDoNotShare(t *testing.T) {
	list := []Option{Parallel(2), Parallel(3)}
	group := Options(list...)
	list[1] = Parallel(9)
	s, err := resolve([]Option{group, Grader(grade.Exact())}, func(string) string { return "" }, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, s.parallel, "a group keeps what it was given")
}

// FuzzKnobs: no value makes a setting panic, and what is taken makes sense.
func FuzzKnobs(f *testing.F) {
	for _, s := range []string{"", "0", "1", "-1", "all", "none", "5/7", "a,b", `["a"]`, "true", "90s", "0.5", "NaN", "1e999", "auto", "\xff"} {
		f.Add(uint8(0), s)
	}
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		k := knobs[int(which)%len(knobs)]
		s := defaults()
		if k.set(&s, value) != nil {
			return
		}
		if s.parallel < 1 || s.attempts < 1 || s.samples < 1 || s.limit < 0 || s.sample.n < 0 || s.itemTimeout < 0 || s.attemptTimeout < 0 {
			t.Errorf("%s=%q gives %+v", k.name, value, s)
		}
		if err := s.gate.Check(); err != nil {
			t.Errorf("%s=%q: %v", k.name, value, err)
		}
	})
}
