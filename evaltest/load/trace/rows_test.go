package trace_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/trace"
)

const five = azureHeader +
	"2023-11-16 18:15:40,10,1\n" +
	"2023-11-16 18:15:41,20,0\n" +
	"2023-11-16 18:15:43,30,3\n" +
	"2023-11-16 18:15:42,40,4\n" +
	"2023-11-16 18:15:50,50,5\n"

func TestOptions(t *testing.T) {
	type row struct {
		at            time.Duration
		input, output int
	}
	s := time.Second
	for _, tt := range []struct {
		name, reason string
		in           string
		o            trace.Options
		want         []row
		dropped      map[trace.Reason]int
		keptAsOne    int
	}{
		{"default", "no output is dropped, order restored", five, trace.Options{}, []row{{0, 10, 1}, {2 * s, 40, 4}, {3 * s, 30, 3}, {10 * s, 50, 5}}, map[trace.Reason]int{trace.NoTokens: 1}, 0},
		{"keep", "a prompt without output is load, too", five, trace.Options{NoOutput: trace.KeepAsOne}, []row{{0, 10, 1}, {s, 20, 1}, {2 * s, 40, 4}, {3 * s, 30, 3}, {10 * s, 50, 5}}, map[trace.Reason]int{}, 1},
		{"window", "To is excluded; the first row kept is the start", five, trace.Options{From: 2 * s, To: 10 * s}, []row{{0, 40, 4}, {s, 30, 3}}, map[trace.Reason]int{trace.OutsideWindow: 3}, 0},
		{"from", "To 0 is the end", five, trace.Options{From: 3 * s}, []row{{0, 30, 3}, {7 * s, 50, 5}}, map[trace.Reason]int{trace.OutsideWindow: 3}, 0},
		{"limit", "rows kept count, not rows read; the rest is not read", five, trace.Options{Limit: 2}, []row{{0, 10, 1}, {3 * s, 30, 3}}, map[trace.Reason]int{trace.NoTokens: 1}, 0},
		{"no input", "nothing can be sent", azureHeader + "2023-11-16 18:15:40,0,1\n2023-11-16 18:15:41,1,1\n", trace.Options{NoOutput: trace.KeepAsOne}, []row{{0, 1, 1}}, map[trace.Reason]int{trace.NoInput: 1}, 0},
		{"quotes and floats", "as table programs write", azureHeader + "\"2023-11-16 18:15:40\",\"10.0\",1e1\n", trace.Options{}, []row{{0, 10, 10}}, map[trace.Reason]int{}, 0},
		{"failed span", "it has a prompt, and the option keeps it", `{"traceId":"t","spanId":"1","startTimeUnixNano":"5","endTimeUnixNano":"9","status":{"code":"STATUS_CODE_ERROR"},"attributes":{"gen_ai.usage.input_tokens":7}}`,
			trace.Options{NoOutput: trace.KeepAsOne}, []row{{0, 7, 1}}, map[trace.Reason]int{}, 1},
		{"failed span dropped", "failed is its own reason", `{"traceId":"t","spanId":"1","startTimeUnixNano":"5","endTimeUnixNano":"9","status":{"code":2},"attributes":{"gen_ai.usage.input_tokens":7,"gen_ai.usage.output_tokens":3}}` +
			`{"traceId":"t","spanId":"2","startTimeUnixNano":"15","endTimeUnixNano":"19","attributes":{"gen_ai.usage.input_tokens":8,"gen_ai.usage.output_tokens":3}}`,
			trace.Options{}, []row{{0, 8, 3}}, map[trace.Reason]int{trace.RequestFailed: 1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := read(t, tt.in, tt.o)
			var got []row
			for r := range tr.Rows() {
				got = append(got, row{r.At, r.Input, r.Output})
			}
			assert.Equal(t, tt.want, got)
			rep := tr.Report()
			assert.Equal(t, tt.dropped, rep.Dropped)
			assert.Equal(t, tt.keptAsOne, rep.KeptAsOne)
			assert.Equal(t, len(tt.want), rep.Rows)
			assert.Equal(t, tt.o.Limit > 0, rep.Limited)
			n := 0
			for _, k := range rep.Dropped {
				n += k
			}
			assert.Equal(t, rep.Read, rep.Rows+n, "every row is kept or counted")
		})
	}
}

// Stream keeps the file's order, and says where it is broken.
func TestStream(t *testing.T) {
	var rep trace.Report
	var ats []time.Duration
	for r, err := range trace.Stream(strings.NewReader(five), "in", trace.Options{}, &rep) {
		require.NoError(t, err)
		ats = append(ats, r.At)
	}
	assert.Equal(t, []time.Duration{0, 3 * time.Second, 2 * time.Second, 10 * time.Second}, ats)
	assert.Equal(t, 1, rep.OutOfOrder)
	assert.Equal(t, map[trace.Reason]int{trace.NoTokens: 1}, rep.Dropped)

	early := azureHeader + "2023-11-16 18:15:40,10,1\n2023-11-16 18:15:39,10,1\nbroken\n"
	ats = nil
	var last error
	for r, err := range trace.Stream(strings.NewReader(early), "in", trace.Options{}, nil) {
		if last = err; err == nil {
			ats = append(ats, r.At)
		}
	}
	assert.Equal(t, []time.Duration{0, -time.Second}, ats, "earlier than the first is negative")
	require.ErrorIs(t, last, trace.ErrColumn)
	assert.ErrorContains(t, last, "in:4:")

	for range trace.Stream(strings.NewReader(five), "in", trace.Options{}, nil) {
		break // must not go on, nor panic
	}
}

func TestOffsets(t *testing.T) {
	tr := read(t, five, trace.Options{})
	got, err := tr.Offsets(4)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 500 * time.Millisecond, 750 * time.Millisecond, 2500 * time.Millisecond}, got)
	for _, scale := range []float64{0, -1, nan(), inf()} {
		_, err := tr.Offsets(scale)
		assert.ErrorIs(t, err, trace.ErrOption, "%v", scale)
	}
	_, err = tr.Offsets(1e-12)
	assert.ErrorIs(t, err, trace.ErrOption, "10 s take 300,000 years")

	chat := read(t, `[{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}]`, trace.Options{})
	_, err = chat.Offsets(1)
	assert.ErrorIs(t, err, trace.ErrNoTimes)
}

// A turn with a timestamp before its session's guessed time stays behind the
// turn before it, and offsets stay sorted.
func TestGuessedTimes(t *testing.T) {
	tr := read(t, `{"session_id":"s","timestamp":0,"input_length":10,"output_length":1}
{"session_id":"s","delay":5000,"input_length":20,"output_length":1}
{"session_id":"s","timestamp":3000,"input_length":30,"output_length":1}
{"timestamp":4000,"input_length":40,"output_length":1}
`, trace.Options{})
	var inputs []int
	for r := range tr.Rows() {
		inputs = append(inputs, r.Input)
	}
	assert.Equal(t, []int{10, 40, 20, 30}, inputs)
	got, err := tr.Offsets(1)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{0, 3 * time.Second, 4 * time.Second, 5 * time.Second}, got)
	plan, rep, err := tr.Plan(trace.PlanOptions{MaxDelay: time.Second})
	require.NoError(t, err)
	require.Len(t, plan, 2)
	assert.Equal(t, time.Second, plan[0].Requests[0].DelayAfter)
	assert.Equal(t, 1, rep.CappedDelays)
	assert.Equal(t, 4*time.Second, rep.Capped)
}

// Rows before the first timestamp are at the start, not before it: nobody
// knows when they were sent.
func TestUntimedFirst(t *testing.T) {
	tr := read(t, `{"session_id":"s","input_length":10,"output_length":1}
{"timestamp":1700000000000,"input_length":20,"output_length":1}
{"session_id":"s","delay":5,"input_length":30,"output_length":1}
`, trace.Options{})
	for r := range tr.Rows() {
		assert.Zero(t, r.At, "row with %d tokens", r.Input)
	}
	assert.Equal(t, 1, tr.Report().Timed)
}

// Calls whose spans overlap.
func TestLanes(t *testing.T) {
	span := func(id, start, end, input string) string {
		return `{"traceId":"t","spanId":"` + id + `","startTimeUnixNano":"` + start + `","endTimeUnixNano":"` + end +
			`","attributes":{"gen_ai.usage.input_tokens":` + input + `,"gen_ai.usage.output_tokens":1}}` + "\n"
	}
	// 1: 0-10, 2: 4-6, 3: 7-8 (behind 2, the last that had ended), 4: 12-13 (behind 1), 5: 12.5-14 (behind 3)
	tr := read(t, span("3", "7000", "8000", "3")+span("1", "0", "10000", "1")+span("5", "12500", "14000", "5")+span("4", "12000", "13000", "4")+span("2", "4000", "6000", "2"), trace.Options{})
	lanes := map[string][]int{}
	for r := range tr.Rows() {
		lanes[r.Session] = append(lanes[r.Session], r.Input)
	}
	assert.Equal(t, map[string][]int{"t": {1, 4}, "t~lane2": {2, 3, 5}}, lanes)
	assert.Equal(t, 1, tr.Report().Lanes)
	assert.Equal(t, 2, tr.Report().Sessions)
}

// Spans whose parents go round in circles, or are their own, end.
func TestSpanCircles(t *testing.T) {
	span := func(id, parent string) string {
		return `{"traceId":"t","spanId":"` + id + `","parentSpanId":"` + parent + `","startTimeUnixNano":"1","endTimeUnixNano":"1","attributes":{"gen_ai.usage.input_tokens":1,"gen_ai.usage.output_tokens":1}}` + "\n"
	}
	tr := read(t, span("self", "self"), trace.Options{})
	assert.Equal(t, 1, tr.Len())
	tr, err := trace.Read(strings.NewReader(span("a", "b")+span("b", "c")+span("c", "a")+span("d", "a")), "in", trace.Options{})
	require.NoError(t, err)
	assert.LessOrEqual(t, tr.Len(), 2)
	assert.Equal(t, 4, tr.Report().Read)
}

func TestWriteRequests(t *testing.T) {
	tr := read(t, `[{"conversations":[{"from":"system","value":"Be brief"},{"from":"human","value":"<a> \u0001"},{"from":"gpt","value":"y y"},{"from":"human","value":"z"},{"from":"gpt","value":"w"}]}]`,
		trace.Options{Count: words})
	var b bytes.Buffer
	require.NoError(t, tr.WriteRequests(&b, "m"))
	assert.Equal(t, `{"body":{"model":"m","messages":[{"role":"system","content":"Be brief"},{"role":"user","content":"<a> \u0001"}],"max_tokens":2},"input_tokens":4}
{"body":{"model":"m","messages":[{"role":"system","content":"Be brief"},{"role":"user","content":"<a> \u0001"},{"role":"assistant","content":"y y"},{"role":"user","content":"z"}],"max_tokens":1},"input_tokens":7}
`, b.String())

	t.Run("without a counter", func(t *testing.T) {
		tr := read(t, `{"text_input":"a b","output_length":3}`, trace.Options{})
		b.Reset()
		require.NoError(t, tr.WriteRequests(&b, ""))
		assert.Equal(t, `{"body":{"messages":[{"role":"user","content":"a b"}],"max_tokens":3}}`+"\n", b.String())
		_, _, err := tr.Plan(trace.PlanOptions{})
		assert.ErrorIs(t, err, trace.ErrNoLengths)
	})
	t.Run("lengths only", func(t *testing.T) {
		assert.ErrorIs(t, read(t, five, trace.Options{}).WriteRequests(&b, ""), trace.ErrNoText)
	})
	t.Run("a reply that only the server will say", func(t *testing.T) {
		tr := read(t, `{"session_id":"s","message_mode":"delta","messages":[{"role":"user","content":"a"}],"output_length":1}
{"session_id":"s","message_mode":"delta","messages":[{"role":"user","content":"b"}],"output_length":1}`, trace.Options{})
		err := tr.WriteRequests(&b, "")
		assert.ErrorIs(t, err, trace.ErrNoText)
		assert.ErrorContains(t, err, "in:2:")
	})
}

func TestCounterMisuse(t *testing.T) {
	assert.PanicsWithValue(t, "trace: Options.Count returned -1 for a text of 1 bytes", func() {
		trace.Read(strings.NewReader(`{"text_input":"a","output_length":3}`), "in", trace.Options{Count: func(string) int { return -1 }})
	})
}

func TestMixedZones(t *testing.T) {
	tr := read(t, azureHeader+"2023-11-16 18:15:40,10,1\n2023-11-16T20:15:41+02:00,10,1\n", trace.Options{})
	assert.Equal(t, time.Second, tr.Report().Span)
	require.Len(t, tr.Report().Warnings, 1)
	assert.Contains(t, tr.Report().Warnings[0], "read as UTC")
}

// Sessions whose rows are of both sorts must still be trajectories.
func TestPlanMixed(t *testing.T) {
	yes := true
	tr := read(t, `{"session_id":"s","timestamp":0,"input_length":10,"output_length":5}
{"session_id":"s","delay":1,"input_length":12,"output_length":5,"hash_ids":[1]}
{"timestamp":0,"input_length":12,"output_length":5,"hash_ids":[1]}
`, trace.Options{})
	plan, rep, err := tr.Plan(trace.PlanOptions{Salt: "run 2", Stream: &yes})
	require.NoError(t, err)
	assert.Equal(t, 0, rep.Resets, "blocks need none")
	require.NoError(t, agent.Write(&bytes.Buffer{}, plan))
	s := plan[0].Requests
	require.Len(t, s, 2)
	assert.Equal(t, 10, s[0].Blocks[0].Tokens)
	assert.Equal(t, plan[1].Requests[0].Blocks, s[1].Blocks)
	assert.True(t, strings.HasSuffix(s[0].Blocks[0].Seed, "@run 2"))
	assert.Equal(t, &yes, s[1].Stream)

	_, _, err = tr.Plan(trace.PlanOptions{MaxDelay: -1})
	assert.ErrorIs(t, err, trace.ErrOption)
	_, _, err = tr.Plan(trace.PlanOptions{Salt: "\xff"})
	assert.ErrorIs(t, err, trace.ErrOption)
}
