package load_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
)

// A said is what a server writes, and when: in milliseconds since the request.
type said struct {
	at   int
	text string
}

// delta is an event with these fields of a delta, and data one with this data.
func delta(fields string) string { return data(`{"choices":[{"index":0,"delta":{` + fields + `}}]}`) }
func data(s string) string       { return "data: " + s + "\n\n" }
func content(s string) string    { return delta(`"content":"` + s + `"`) }

// finish is an event with a reason to stop, usage one with this many tokens.
func finish(why string) string {
	return data(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + why + `"}]}`)
}

func usage(input, output int) string {
	return data(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, input, output, input+output))
}

const done = "data: [DONE]\n\n"

// absent stands for a time that must not be there.
const absent = -1.0

// three is an answer of three tokens, 20 ms apart, the first after 100 ms.
func three() []said {
	return []said{
		{10, delta(`"role":"assistant","content":""`)},
		{100, content("one")}, {120, content("two")}, {140, content("six")},
		{150, finish("stop") + usage(5, 3) + done},
	}
}

// changed is an answer with each text changed.
func changed(list []said, change func(string) string) []said {
	for i := range list {
		list[i].text = change(list[i].text)
	}
	return list
}

// chunks are 13 events 83 ms apart, the first after 200 ms: one of 5 words and
// twelve of 8, which a server counts as 101 tokens.
func chunks() (list []said) {
	for i := range 13 {
		n := 8
		if i == 0 {
			n = 5
		}
		list = append(list, said{200 + 83*i, content(strings.Repeat("word", n))})
	}
	return append(list, said{1196, finish("length") + usage(5, 101) + done})
}

// A streamVector is what a server says and the numbers that the definitions make
// of it. Times are in milliseconds.
type streamVector struct {
	name, reason string
	says         []said
	whole        bool // not streamed

	ttft, ttfo, e2e, tpot float64
	finish                float64 // to [DONE]
	no                    metric.NoTPOT
	output                int64
	source                metric.Source
	fragments             int
	estimated             bool         // the tokens of the first fragment
	class                 record.Class // why it failed
}

// good is a vector whose numbers are those of three.
func good(name, reason string, says []said) streamVector {
	return streamVector{name: name, reason: reason, says: says, ttft: 100, ttfo: 100, e2e: 140, tpot: 20, finish: 150, output: 3, source: metric.FromUsage, fragments: 3}
}

func (v streamVector) but(change func(*streamVector)) streamVector {
	change(&v)
	return v
}

func streamVectors() []streamVector {
	big := strings.Repeat("x", 100<<10)
	return []streamVector{
		good("role chunk", "a role and an empty text at 10 ms are no token", three()),
		good("CRLF", "a legal end of a line", changed(three(), func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })),
		good("CR", "and so is a CR alone", changed(three(), func(s string) string { return strings.ReplaceAll(s, "\n", "\r") })).
			but(func(v *streamVector) { v.says = append(v.says, said{151, "\n"}) }),
		good("no space", "after data: there need be none", changed(three(), func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") })),
		good("multi-line", "the lines of an event are one text", changed(three(), func(s string) string { return strings.ReplaceAll(s, `{"index"`, "\ndata: {\ndata: \"index\"") })),
		good("comments", "keep-alives are no tokens, wherever they come", []said{
			{5, ": hello\n\n"}, {100, content("one")}, {110, ": keep-alive\n\n:\n\n"}, {120, content("two")}, {130, "data:\n\n"}, {140, content("six")},
			{145, ": bye\n\n"}, {150, finish("stop") + usage(5, 3) + done},
		}),
		good("empty deltas", "neither are texts without a character", []said{
			{10, delta(`"role":"assistant","content":null,"tool_calls":[]`)}, {100, content("one")}, {110, content("")}, {120, content("two")}, {140, content("six")},
			{150, finish("stop") + usage(5, 3) + done},
		}),
		good("split event", "a fragment has the time at which its event was whole", []said{
			{60, `data: {"choices":[{"index":0,"delta":{"con`}, {100, `tent":"one"}}]}` + "\n\n" + `data: {"choi`},
			{120, `ces":[{"index":0,"delta":{"content":"two"}}]}` + "\n\n" + content("six")[:30]}, {140, content("six")[30:]},
			{150, finish("stop") + usage(5, 3) + done},
		}),
		good("usage tail", "it comes 60 ms after the last token, which ends the answer all the same", []said{
			{100, content("one")}, {120, content("two")}, {140, content("six") + finish("stop")}, {200, usage(5, 3) + done},
		}).but(func(v *streamVector) { v.finish = 200 }),
		good("no [DONE]", "a reason to stop is an end", []said{{100, content("one")}, {120, content("two")}, {140, content("six")}, {150, finish("stop") + usage(5, 3)}}),
		good("over 64 KB", "a line has no length that a reader may assume", []said{
			{100, content("one")}, {120, content(big)}, {140, content("six")}, {150, finish("stop") + usage(5, 3) + done},
		}),
		good("no usage", "each event is taken for a token, and the source says so", []said{{100, content("one")}, {120, content("two")}, {140, content("six")}, {150, finish("stop") + done}}).
			but(func(v *streamVector) { v.source = metric.FromFragments }),
		good("hidden reasoning", "tokens that the server kept to itself are no part of the stream's", []said{
			{100, content("one")}, {120, content("two")}, {140, content("six")},
			{150, finish("stop") + data(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":43,"total_tokens":48,"completion_tokens_details":{"reasoning_tokens":40}}}`) + done},
		}).but(func(v *streamVector) { v.output = 43 }),
		good("reasoning first", "B04: the first token is one of reasoning, the first visible one comes later", []said{
			{10, delta(`"role":"assistant"`)}, {100, delta(`"reasoning_content":"hm"`)}, {1100, delta(`"reasoning":"so"`)}, {2000, content("yes")},
			{2001, finish("stop") + usage(5, 3) + done},
		}).but(func(v *streamVector) { v.ttfo, v.e2e, v.tpot, v.finish = 2000, 2000, 950, 2001 }),
		good("reasoning only", "nothing visible ever came", []said{
			{100, delta(`"reasoning":"hm"`)}, {120, delta(`"reasoning":"so"`)}, {140, delta(`"reasoning":"an"`)}, {150, finish("length") + usage(5, 3) + done},
		}).but(func(v *streamVector) { v.ttfo = absent }),
		good("tool call only", "a call is generated and not visible; an id alone is neither", []said{
			{50, delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"","arguments":""}}]`)},
			{100, delta(`"tool_calls":[{"index":0,"function":{"name":"look","arguments":""}}]`)}, {120, delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`)},
			{140, delta(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`)}, {150, finish("tool_calls") + usage(5, 3) + done},
		}).but(func(v *streamVector) { v.ttfo = absent }),
		good("one token", "nothing lies between two tokens", []said{{100, content("one")}, {150, finish("stop") + usage(5, 1) + done}}).
			but(func(v *streamVector) {
				v.e2e, v.tpot, v.output, v.fragments, v.no = 100, absent, 1, 1, metric.OneFragment
			}),
		good("all in one", "a server that writes the whole answer in one event has no time per token", []said{{100, content("one two six")}, {150, finish("stop") + usage(5, 3) + done}}).
			but(func(v *streamVector) { v.e2e, v.tpot, v.fragments, v.no = 100, absent, 1, metric.OneFragment }),
		good("at once", "events that come together are a proxy's doing", []said{{100, content("one") + content("two") + content("six")}, {150, finish("stop") + usage(5, 3) + done}}).
			but(func(v *streamVector) { v.e2e, v.tpot, v.no = 100, absent, metric.BelowNoise }),
		{name: "several tokens", reason: "B05: 12·83/(101-5) ms a token, not 83", says: chunks(),
			ttft: 200, ttfo: 200, e2e: 1196, tpot: 10.375, finish: 1196, output: 101, source: metric.FromUsage, fragments: 13, estimated: true},
		{name: "no text", reason: "usage alone has no time", says: []said{{10, delta(`"role":"assistant"`)}, {150, finish("stop") + usage(5, 1) + done}},
			ttft: absent, ttfo: absent, e2e: absent, tpot: absent, finish: 150, no: metric.NoText, output: 1, source: metric.FromUsage},
		{name: "whole", reason: "who does not stream sees no first token", whole: true,
			says: []said{{140, `{"choices":[{"index":0,"message":{"role":"assistant","content":"one two six"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}`}},
			ttft: absent, ttfo: absent, e2e: 140, tpot: absent, finish: 140, no: metric.NotStreamed, output: 3, source: metric.FromUsage, fragments: 1},
		{name: "error in the stream", reason: "what began well and failed is no answer", class: record.InStream, fragments: 2,
			says: []said{{100, content("one")}, {120, content("two")}, {130, data(`{"error":{"message":"worker died","code":500}}`) + done}}},
		{name: "cut", reason: "a connection that ends in the middle is no end", class: record.Truncated, fragments: 2,
			says: []said{{100, content("one")}, {120, content("two")}}},
	}
}

// asked runs one request against a server that says this, in memory.
func asked(t *testing.T, v streamVector) (rep *load.Report, rec record.Request) {
	t.Helper()
	p := fake.NewPipe()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		began, f := time.Now(), http.NewResponseController(w)
		for _, one := range v.says {
			<-time.After(time.Until(began.Add(time.Duration(one.at) * time.Millisecond)))
			_, _ = io.WriteString(w, one.text)
			_ = f.Flush()
		}
	})}
	ended := make(chan struct{})
	go func() { _ = s.Serve(p); close(ended) }()
	defer func() { _ = s.Close(); <-ended }()
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: "http://h", Model: "m", Dial: p.Dial}, Source: words(t, 5, 0, nil), Users: 1, RequestsPerUser: 1, Seed: 1,
		ModifyPrompt: func(q *client.Prompt) { q.Whole = v.whole },
		Metric:       metric.Config{Limits: easy},
		Sink:         func(r *record.Request) error { rec = *r; return nil },
	})
	require.NoError(t, err)
	return rep, rec
}

// TestStreams: what servers write, through the client and into the numbers.
func TestStreams(t *testing.T) {
	for _, v := range streamVectors() {
		t.Run(v.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep, rec := asked(t, v)
				assert.Len(t, rec.Fragments, v.fragments, v.reason)
				gapsAddUp(t, rec)
				if v.class != "" {
					checkFailed(t, rep, v)
					return
				}
				require.NoError(t, rep.Problem(), v.reason)
				checkStream(t, rep.Result, v)
			})
		})
	}
}

func checkStream(t *testing.T, res *metric.Result, v streamVector) {
	t.Helper()
	for name, want := range map[metric.Name]float64{
		metric.TTFT: v.ttft, metric.TTFO: v.ttfo, metric.E2E: v.e2e, metric.TPOT: v.tpot, metric.Finish: v.finish,
		metric.ResponseTTFT: v.ttft, metric.ResponseE2E: v.e2e,
	} {
		got, ok := res.Dists[name].Max.Get()
		if want == absent {
			assert.False(t, ok, "%s is %v, want none: %s", name, got/1e6, v.reason)
			continue
		}
		assert.True(t, ok, "%s is absent: %s", name, v.reason)
		assert.InDelta(t, want, got/1e6, 1e-6, "%s: %s", name, v.reason)
	}
	no := map[metric.NoTPOT]int64{}
	if v.no != "" {
		no[v.no] = 1
	}
	assert.Equal(t, fmt.Sprint(no), fmt.Sprint(res.NoTPOT), v.reason)
	assert.Equal(t, v.output, res.Tokens.Output, v.reason)
	assert.Equal(t, map[metric.Source]int64{v.source: 1}, res.Tokens.Sources, v.reason)
	assert.Equal(t, v.estimated, res.Tokens.FirstEstimated == 1, v.reason)
	icl := res.Dists[metric.ICL]
	if v.tpot == absent {
		return
	}
	assert.EqualValues(t, v.fragments-1, icl.N, "one gap between each two fragments")
	mean, _ := icl.Mean.Get()
	assert.InDelta(t, v.e2e-v.ttft, mean*float64(icl.N)/1e6, 1e-6, "the gaps are what lies between the first and the last")
	itl, _ := res.Dists[metric.ITL].Mean.Get()
	assert.InDelta(t, v.tpot, itl/1e6, 1e-6, "the mean over tokens is the time per token")
}

// checkFailed: a failed request is in no time of answers.
func checkFailed(t *testing.T, rep *load.Report, v streamVector) {
	t.Helper()
	require.ErrorIs(t, rep.Problem(), metric.ErrNothing, v.reason)
	assert.EqualValues(t, 1, rep.Result.Counts.Failed)
	require.Len(t, rep.Result.Errors, 1)
	assert.Equal(t, v.class, rep.Result.Errors[0].Class, v.reason)
	for _, name := range []metric.Name{metric.TTFT, metric.TTFO, metric.E2E, metric.TPOT, metric.ICL, metric.ITL} {
		assert.Zero(t, rep.Result.Dists[name].N, "%s", name)
	}
}

// gapsAddUp: whatever came, the raw gaps add up to what lies between the first and
// the last fragment, and none is below 0.
func gapsAddUp(t *testing.T, rec record.Request) {
	t.Helper()
	var sum time.Duration
	for i := 1; i < len(rec.Fragments); i++ {
		gap := rec.Fragments[i].At - rec.Fragments[i-1].At
		assert.GreaterOrEqual(t, gap, time.Duration(0))
		sum += gap
	}
	if n := len(rec.Fragments); n > 0 {
		assert.Equal(t, rec.Fragments[n-1].At-rec.Fragments[0].At, sum)
		assert.LessOrEqual(t, rec.Fragments[n-1].At, rec.Done)
		assert.GreaterOrEqual(t, rec.Fragments[0].At, rec.Sent)
	}
}
