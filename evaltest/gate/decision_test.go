package gate_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
)

var update = flag.Bool("update", false, "write the golden files")

// TestDecisionTexts shows what every gate says, one after the other.
func TestDecisionTexts(t *testing.T) {
	ninety, half, tenth, seventh := 0.9, 0.5, 0.1, 0.07
	seconds := func(n int, d time.Duration) []time.Duration { return slices.Repeat([]time.Duration{d}, n) }
	drop := gate.CompareOptions{MaxDrop: &seventh}
	base := times(60, "c") + times(20, "i")
	groups := times(20, "c@billing") + times(20, "c@ship\x1b[2Jping") + times(5, "c")
	var b strings.Builder
	for _, tt := range []struct {
		name     string
		cfg      gate.Config
		old, now string
		edit     func(*gate.Evidence)
	}{
		{name: "baseline, regressed", cfg: gate.Config{Compare: drop}, old: base, now: times(12, "i") + times(48, "c") + times(2, "c") + times(18, "i")},
		{name: "baseline, no evidence", cfg: gate.Config{Compare: drop}, old: base, now: times(3, "i") + times(57, "c") + times(2, "c") + times(18, "i")},
		{name: "baseline, improved", cfg: gate.Config{Compare: drop}, old: base, now: times(80, "c")},
		{name: "baseline, too few", cfg: gate.Config{Compare: drop}, old: "c c c i", now: "i c c c"},
		{name: "baseline, too few must not be", cfg: gate.Config{FailNotEnough: true}, old: "c c c i", now: "i c c c"},
		{name: "baseline, outage", cfg: gate.Config{MaxErrored: 40}, old: base, now: times(30, "e") + times(30, "c") + times(20, "i")},
		{name: "baseline, to detect", cfg: gate.Config{Compare: gate.CompareOptions{Detect: 0.02}}, old: base, now: base},
		{name: "baseline, groups", cfg: gate.Config{Compare: gate.CompareOptions{EachGroup: true}}, old: groups, now: groups},
		{name: "baseline, scores", cfg: gate.Config{Compare: gate.CompareOptions{Scores: true}}, old: base, now: times(12, "i") + times(48, "c") + times(20, "i")},
		{name: "baseline, narrowed", cfg: gate.Config{Compare: drop, MinGroups: &ninety}, old: base, now: base, edit: func(e *gate.Evidence) { e.Narrowed = true }},
		{name: "baseline, another model", old: base, now: base, edit: func(e *gate.Evidence) { e.Run.Header.Fingerprint["model"] = "m-2" }},
		{name: "baseline, another model, warn", cfg: gate.Config{Compare: gate.CompareOptions{OnMismatch: gate.Warn}}, old: base, now: base, edit: func(e *gate.Evidence) { e.Run.Header.Fingerprint["model"] = "m-2" }},
		{name: "lower bound, short", cfg: gate.Config{MinAccuracy: &ninety, LowerBound: true}, now: times(95, "c") + times(5, "i")},
		{name: "lower bound, enough", cfg: gate.Config{MinAccuracy: &ninety, LowerBound: true}, now: times(98, "c") + times(2, "i")},
		{name: "lower bound, too few", cfg: gate.Config{MinAccuracy: &ninety, LowerBound: true}, now: times(10, "c")},
		{name: "groups", cfg: gate.Config{MinGroups: &ninety}, now: times(20, "c@billing") + times(10, "c@ship\x1b[2Jping") + times(10, "i@ship\x1b[2Jping") + times(5, "c")},
		{name: "groups, all well", cfg: gate.Config{MinGroups: &ninety}, now: groups},
		{name: "groups, by lower bound", cfg: gate.Config{MinGroups: &tenth, LowerBound: true}, now: groups},
		{name: "groups, each alone above, not together", cfg: gate.Config{MinGroups: &half, LowerBound: true}, now: times(15, "c@a") + times(5, "i@a") + times(15, "c@b") + times(5, "i@b")},
		{name: "a group", cfg: gate.Config{MinGroup: map[string]float64{"billing": 0.5, "returns": 0.5}}, now: groups},
		{name: "a group, by lower bound", cfg: gate.Config{MinGroup: map[string]float64{"billing": 0.9}, LowerBound: true}, now: groups},
		{name: "no groups", cfg: gate.Config{MinGroups: &ninety}, now: base},
		{name: "latency", cfg: gate.Config{MaxLatency: []gate.Percentile{{P: 0.5, Max: time.Second}, {P: 0.95, Max: 3 * time.Second}, {P: 0.99, Max: 3 * time.Second}}}, now: base,
			edit: func(e *gate.Evidence) {
				e.Latencies = slices.Concat(seconds(70, time.Second), seconds(6, 4*time.Second))
			}},
		{name: "latency, few but slow", cfg: gate.Config{MaxLatency: []gate.Percentile{{P: 0.99, Max: time.Second}}}, now: base,
			edit: func(e *gate.Evidence) { e.Latencies = seconds(20, 2*time.Second) }},
		{name: "latency, none", cfg: gate.Config{MaxLatency: []gate.Percentile{{P: 0.99, Max: time.Second}}}, now: base},
		{name: "curtailed", cfg: gate.Config{Compare: drop}, old: base, now: times(20, "i") + times(60, "n"), edit: func(e *gate.Evidence) { e.Curtailed = true }},
	} {
		run := from(t, tt.now)
		e := evidence(t, run)
		if tt.old != "" {
			tt.cfg.Baseline = from(t, tt.old)
			tt.cfg.Baseline.Header.Fingerprint["model"], run.Header.Fingerprint["model"] = "m-1", "m-1"
		}
		if tt.edit != nil {
			tt.edit(&e)
		}
		fmt.Fprintf(&b, "# %s\n", tt.name)
		for _, d := range gate.Decide(e, tt.cfg) {
			assert.NotContains(t, d.Text, "\x1b")
			assert.NotContains(t, d.Text, "\n", "one line")
			if strings.HasPrefix(d.Gate, "MaxErr") || strings.HasPrefix(d.Gate, "MaxUn") {
				continue // the example shows them
			}
			fmt.Fprintln(&b, d)
		}
	}
	golden(t, "decisions.txt", b.String())
}

func golden(t *testing.T, name, got string) {
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got, "run with -update to accept")
}

func TestMaxLatency(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		p            float64
		n, over      int
		want         gate.Status
	}{
		{"p50 of 2", "the lower one is the nearest rank", 0.5, 2, 1, gate.Passed},
		{"p50 of 1", "one answer has no median worth the name", 0.5, 1, 0, gate.NotEnoughData},
		{"p99 of 100", "one may be slower", 0.99, 100, 1, gate.Passed},
		{"p99 of 100, two", "", 0.99, 100, 2, gate.Failed},
		{"p99 of 99", "the nearest rank is the slowest", 0.99, 99, 0, gate.NotEnoughData},
		{"p99 of 99, one", "one slow answer proves nothing", 0.99, 99, 1, gate.NotEnoughData},
		{"p99 of 20, all", "that is no chance", 0.99, 20, 20, gate.Failed},
		{"p95 of 20", "0.95*20 is 19 exactly", 0.95, 20, 1, gate.Passed},
		{"p90 of 10", "1/(1-0.9) is 10, not 10.000000000000002", 0.9, 10, 1, gate.Passed},
		{"p100", "the slowest of all", 1, 1, 1, gate.Failed},
		{"p100, in time", "", 1, 1, 0, gate.Passed},
		{"none", "", 0.5, 0, 0, gate.NotEnoughData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := gate.Evidence{Counts: gate.Counts{Total: 1, Correct: 1}}
			e.Latencies = append(slices.Repeat([]time.Duration{2 * time.Second}, tt.over), slices.Repeat([]time.Duration{time.Second}, tt.n-tt.over)...)
			cfg := gate.Config{MaxLatency: []gate.Percentile{{P: tt.p, Max: time.Second}}}
			d := find(t, gate.Decide(e, cfg), gate.MaxLatency)
			assert.Equal(t, tt.want, d.Status, "%s: %s", tt.reason, d)
			assert.Equal(t, tt.want == gate.Failed, gate.AnyFailed([]gate.Decision{d}))
			cfg.FailNotEnough = true
			d = find(t, gate.Decide(e, cfg), gate.MaxLatency)
			assert.Equal(t, tt.want != gate.Passed, d.Status == gate.Failed, "FailNotEnough: %s", d)
		})
	}
}

func TestConfigCheckGates(t *testing.T) {
	one, bad := 1.0, 90.0
	for _, tt := range []struct {
		name string
		cfg  gate.Config
		says string
	}{
		{"certainty", gate.Config{MinAccuracy: &one, LowerBound: true}, "no number of answers"},
		{"percent", gate.Config{MinGroups: &bad}, "MinGroups 90 is more than 1: it is a share, not a percentage; for 90% write 0.9"},
		{"group", gate.Config{MinGroup: map[string]float64{"a": -1}}, `MinGroup "a" -1`},
		{"p99", gate.Config{MaxLatency: []gate.Percentile{{P: 99, Max: 1}}}, "for p99 write 0.99"},
		{"p0", gate.Config{MaxLatency: []gate.Percentile{{P: 0, Max: 1}}}, "above 0"},
		{"no time", gate.Config{MaxLatency: []gate.Percentile{{P: 0.5}}}, "a time above 0"},
		{"alpha", gate.Config{Compare: gate.CompareOptions{Alpha: 5}}, "Alpha 5"},
	} {
		err := tt.cfg.Check()
		require.ErrorIs(t, err, gate.ErrConfig, tt.name)
		assert.ErrorContains(t, err, tt.says, tt.name)
	}
	assert.Panics(t, func() {
		gate.Decide(gate.Evidence{}, gate.Config{Baseline: &gate.Baseline{}})
	}, "a baseline and nothing to compare with it")
}

func ExampleCompare() {
	run := func(marks string) *gate.Baseline {
		var r gate.Recorder
		for i, m := range marks {
			r.Add(marked(fmt.Sprintf("item-%02d", i), m == 'x'))
		}
		b, err := r.Baseline(gate.BaselineHeader{Fingerprint: map[string]string{"dataset": "v1"}})
		if err != nil {
			panic(err)
		}
		for i := range b.Items {
			b.Items[i].Group = "" // items on their own
		}
		return b
	}
	c, err := gate.Compare(run("xxxxxxxxxxxxxxxx.."), run("......xxxxxxxxxxx."), gate.CompareOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Verdict)
	fmt.Printf("%d broke, %d fixed, p %.3f\n", len(c.Broke), len(c.Fixed), c.P)
	again := map[string][]bool{}
	for _, item := range c.Broke {
		again[item.ID] = []bool{true, true} // asked twice more, and correct
	}
	fmt.Println(c.Confirm(again).Verdict)
	// Output:
	// regressed
	// 6 broke, 1 fixed, p 0.035
	// no evidence of a drop
}

// TestRounding: no number is rounded to the other side of its limit.
func TestRounding(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		broke, of    int
		o            gate.CompareOptions
		says, not    string
	}{
		{"drop", "6 of 119 are 5.04 points", 6, 119, gate.CompareOptions{MaxDrop: share(0.05)}, "fell by 5.04 points, at most 5 allowed", "by 5.0 points"},
		{"drop that passes", "199 of 4000 are 4.975 points", 199, 4000, gate.CompareOptions{MaxDrop: share(0.05)}, "fell by 5.0 points, at most 5 allowed", "failed"},
		{"drop far below", "one decimal will do", 1, 30, gate.CompareOptions{MaxDrop: share(0.05)}, "fell by 3.3 points", ""},
		{"p above alpha", "1/64 is 0.015625", 5, 20, gate.CompareOptions{Alpha: 0.0156}, "p 0.01562 for a drop", "p 0.0156 "},
		{"small p above a small alpha", "2^-15", 14, 50, gate.CompareOptions{Alpha: 1e-5}, "p 0.00003 for a drop", "p <"},
		{"tiny p above a tiny alpha", "2^-81", 80, 90, gate.CompareOptions{Alpha: 1e-26}, "p 4.14e-25 for a drop", "p 0"},
		{"small p", "2^-15 is below 0.05 by far", 14, 50, gate.CompareOptions{}, "p < 0.0001 for a drop", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, now := from(t, times(tt.of, "c")), from(t, times(tt.broke, "i")+times(tt.of-tt.broke, "c"))
			text := ""
			for _, d := range gate.Decide(gate.Evidence{Run: now}, gate.Config{Baseline: old, Compare: tt.o}) {
				if d.Gate == gate.MaxDrop || tt.o.MaxDrop == nil {
					text += d.String() + "\n"
				}
			}
			assert.Contains(t, text, tt.says, tt.reason)
			if tt.not != "" {
				assert.NotContains(t, text, tt.not, tt.reason)
			}
		})
	}
}
