package result

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// appendRecord appends what json.Marshal makes of rec with the options
// writing, byte for byte, in a third of the time: every item has a record written, and
// the library finds out anew each time which of its fields are empty. TestAppendRecord holds it to the library with every field set,
// so a field that is added to a record and not here fails a test.
//
// What few records have is left to the library (see appender.other). An error
// is one that the library would have, mostly a text that is not UTF-8.
func appendRecord(b []byte, rec *Record) ([]byte, error) {
	a := appender{b: b}
	a.record(rec)
	return a.b, a.err
}

// An appender appends the fields of JSON objects. Names come with their quotes
// and colon. Where a method's comment does not say "always", it leaves an
// empty value out, as the tags of the fields do.
type appender struct {
	b   []byte
	err error // the first
}

func (a *appender) open()  { a.b = append(a.b, '{') }
func (a *appender) close() { a.b = append(a.b, '}') }

// name begins a field.
func (a *appender) name(name string) {
	if a.b[len(a.b)-1] != '{' { // a value never ends with one
		a.b = append(a.b, ',')
	}
	a.b = append(a.b, name...)
}

func (a *appender) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// other appends a field as the library has it, always.
func (a *appender) other(name string, v any) {
	a.name(name)
	text, err := json.Marshal(v, writing)
	if err != nil {
		a.fail(err)
	}
	a.b = append(a.b, text...)
}

func (a *appender) quote(s string) {
	var err error
	if a.b, err = jsontext.AppendQuote(a.b, s); err != nil {
		a.fail(err)
	}
}

// text appends a text, always.
func (a *appender) text(name, s string) {
	a.name(name)
	a.quote(s)
}

func (a *appender) textIf(name, s string) {
	if s != "" {
		a.text(name, s)
	}
}

func (a *appender) textsIf(name string, list []string) {
	if len(list) == 0 {
		return
	}
	a.name(name)
	for i, s := range list {
		a.b = append(a.b, "[,"[min(i, 1)])
		a.quote(s)
	}
	a.b = append(a.b, ']')
}

// number appends a number, always.
func (a *appender) number(name string, n int64) {
	a.name(name)
	a.b = strconv.AppendInt(a.b, n, 10)
}

func (a *appender) numberIf(name string, n int64) {
	if n != 0 {
		a.number(name, n)
	}
}

func (a *appender) trueIf(name string, v bool) {
	if v {
		a.name(name)
		a.b = append(a.b, "true"...)
	}
}

// score appends a score, always. Most are 0 or 1.
func (a *appender) score(name string, v float64) {
	if n := int64(v); (n == 0 || n == 1) && float64(n) == v && 1/v > 0 { // -0 has its sign
		a.number(name, n)
		return
	}
	a.other(name, v)
}

// timeIf appends a time. The library refuses years and zones that RFC 3339 has
// no room for.
func (a *appender) timeIf(name string, t time.Time) {
	const day = 24 * 60 * 60
	if t.IsZero() {
		return
	}
	if _, offset := t.Zone(); offset <= -day || offset >= day || t.Year() < 0 || t.Year() > 9999 {
		a.other(name, t)
		return
	}
	a.name(name)
	a.b = append(a.b, '"')
	a.b = t.AppendFormat(a.b, time.RFC3339Nano)
	a.b = append(a.b, '"')
}

func (a *appender) record(rec *Record) {
	a.open()
	a.name(`"item":`)
	a.item(&rec.Item)
	a.numberIf(`"sample":`, int64(rec.Sample))
	a.text(`"outcome":`, string(rec.Outcome))
	a.score(`"score":`, rec.Score)
	if rec.Response != nil {
		a.name(`"response":`)
		a.response(rec.Response)
	}
	a.verdictIf(`"verdict":`, rec.Verdict)
	a.verdictIf(`"graded":`, rec.Graded)
	for i := range rec.Attempts {
		if i == 0 {
			a.name(`"attempts":[`)
		} else {
			a.b = append(a.b, ',')
		}
		a.attempt(&rec.Attempts[i])
		if i == len(rec.Attempts)-1 {
			a.b = append(a.b, ']')
		}
	}
	if len(rec.JudgeTryLog) > 0 {
		a.other(`"judge_try_log":`, rec.JudgeTryLog)
	}
	a.totalIf(`"usage":`, &rec.Usage)
	a.totalIf(`"judge_usage":`, &rec.JudgeUsage)
	a.textIf(`"cost_usd":`, rec.CostUSD)
	a.textIf(`"judge_cost_usd":`, rec.JudgeCostUSD)
	a.textIf(`"at_least_usd":`, rec.AtLeastUSD)
	a.textIf(`"judge_at_least_usd":`, rec.JudgeAtLeastUSD)
	a.trueIf(`"replayed":`, rec.Replayed)
	a.trueIf(`"judge_replayed":`, rec.JudgeReplayed)
	a.trueIf(`"abandoned":`, rec.Abandoned)
	a.trueIf(`"confirms":`, rec.Confirms)
	a.timeIf(`"start":`, rec.Start)
	a.numberIf(`"duration_ns":`, int64(rec.Duration))
	a.numberIf(`"latency_ns":`, int64(rec.Latency))
	a.errorIf(`"error":`, rec.Error)
	a.textsIf(`"warnings":`, rec.Warnings)
	a.close()
}

func (a *appender) item(it *Item) {
	a.open()
	a.text(`"id":`, it.ID)
	a.textIf(`"input":`, it.Input)
	a.textIf(`"target":`, it.Target)
	a.textsIf(`"targets":`, it.Targets)
	a.textsIf(`"choices":`, it.Choices)
	a.textIf(`"group":`, it.Group)
	if len(it.Row) > 0 {
		a.name(`"row":`)
		var err error
		if a.b, err = jsontext.AppendFormat(a.b, it.Row, writing); err != nil {
			a.fail(err)
		}
	}
	a.close()
}

func (a *appender) response(r *llm.Response) {
	a.open()
	a.text(`"text":`, r.Text)
	a.textIf(`"reasoning":`, r.Reasoning)
	a.textIf(`"refusal":`, r.Refusal)
	if len(r.ToolCalls) > 0 {
		a.other(`"tool_calls":`, r.ToolCalls)
	}
	a.textIf(`"finish":`, string(r.Finish))
	if r.Usage != (llm.Usage{}) {
		a.name(`"usage":`)
		a.open()
		a.usage(&r.Usage)
		a.close()
	}
	a.textIf(`"model":`, r.Model)
	a.textIf(`"id":`, r.ID)
	if r.Timing != (llm.Timing{}) {
		a.name(`"timing":`)
		a.open()
		a.timeIf(`"start":`, r.Timing.Start)
		a.numberIf(`"first_token_ns":`, int64(r.Timing.FirstToken))
		a.numberIf(`"total_ns":`, int64(r.Timing.Total))
		a.close()
	}
	a.textIf(`"cost_usd":`, r.CostUSD)
	a.trueIf(`"replayed":`, r.Replayed)
	a.textsIf(`"warnings":`, r.Warnings)
	a.close()
}

// usage appends the fields of an open object.
func (a *appender) usage(u *llm.Usage) {
	a.number(`"input":`, u.Input)
	a.numberIf(`"cached_input":`, u.CachedInput)
	a.number(`"output":`, u.Output)
	a.numberIf(`"reasoning":`, u.Reasoning)
	a.trueIf(`"known":`, u.Known)
	a.numberIf(`"cache_write":`, u.CacheWrite)
	a.numberIf(`"cache_write_1h":`, u.CacheWriteHour)
}

func (a *appender) totalIf(name string, u *llm.UsageTotal) {
	if *u == (llm.UsageTotal{}) {
		return
	}
	a.name(name)
	a.open()
	a.usage(&u.Usage)
	a.number(`"calls":`, int64(u.Calls))
	a.numberIf(`"unknown":`, int64(u.Unknown))
	a.close()
}

func (a *appender) verdictIf(name string, v *grade.Verdict) {
	if v == nil {
		return
	}
	a.name(name)
	a.open()
	a.text(`"mark":`, string(v.Mark))
	a.score(`"score":`, v.Score)
	a.textIf(`"answer":`, v.Answer)
	a.textIf(`"how":`, v.How)
	a.textIf(`"reason":`, string(v.Reason))
	a.textIf(`"why":`, v.Why)
	if len(v.Calls) > 0 {
		a.other(`"calls":`, v.Calls)
	}
	a.close()
}

func (a *appender) attempt(t *Attempt) {
	a.open()
	a.number(`"number":`, int64(t.Number))
	a.numberIf(`"tries":`, int64(t.Tries))
	a.timeIf(`"start":`, t.Start)
	a.numberIf(`"duration_ns":`, int64(t.Duration))
	a.textIf(`"text":`, t.Text)
	a.textIf(`"finish":`, string(t.Finish))
	a.textIf(`"model":`, t.Model)
	a.totalIf(`"usage":`, &t.Usage)
	a.verdictIf(`"verdict":`, t.Verdict)
	a.errorIf(`"error":`, t.Error)
	if len(t.TryLog) > 0 {
		a.other(`"try_log":`, t.TryLog)
	}
	a.close()
}

func (a *appender) errorIf(name string, e *Error) {
	if e == nil {
		return
	}
	a.name(name)
	a.open()
	a.text(`"kind":`, string(e.Kind))
	a.text(`"message":`, e.Message)
	a.numberIf(`"status":`, int64(e.Status))
	a.textIf(`"stack":`, e.Stack)
	a.close()
}
