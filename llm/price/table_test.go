package price_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

// TestTable checks each row of the table that comes along: shape, range, source
// and day.
func TestTable(t *testing.T) {
	entries := price.Default().Entries()
	require.Greater(t, len(entries), 100)
	oldest, newest := day("2026-06-01"), day("2026-11-29")
	cheap, dear := usd("0.001"), usd("700")
	ids, owners := map[string]bool{}, map[string]string{}
	for _, e := range entries {
		name := e.Provider + "/" + e.Model + " " + e.From.Format(time.RFC3339)
		assert.NotEmpty(t, e.Provider, name)
		assert.False(t, e.AsOf.Before(oldest), "%s: as_of %s is undated or too old to be trusted", name, e.AsOf)
		assert.False(t, e.AsOf.After(newest), "%s: as_of %s lies after the day on which the table was made", name, e.AsOf)
		page, err := url.Parse(e.Source)
		assert.True(t, err == nil && page.Scheme == "https" && page.Host != "", "%s: the source %q is no page", name, e.Source)
		assert.False(t, e.Marginal, name)
		for _, id := range append([]string{e.Model}, e.Aliases...) {
			key := e.Provider + "/" + id + e.From.Format(time.RFC3339)
			assert.False(t, ids[key], "%s: %s stands twice", name, id)
			ids[key] = true
			if owner := owners[id]; !slices.Contains([]string{"groq", "together"}, e.Provider) {
				assert.True(t, owner == "" || owner == e.Provider, "%s: %s is of %s too: bare ids would be ambiguous", name, id, owner)
				owners[id] = e.Provider
			}
		}
		check := func(r price.Rates, what string) {
			_, ok := r.Cost(known(3, 1, 1, 0))
			assert.True(t, ok, "%s: %s lacks a price", name, what)
			assert.True(t, r.CachedInput.LessThanOrEqual(r.Input), "%s: %s: cached input is dearer than other", name, what)
			for _, d := range []struct {
				what string
				ok   bool
			}{
				{"in", r.Input.GreaterThan(cheap) && r.Input.LessThan(dear)},
				{"out", r.Output.GreaterThanOrEqual(r.Input) && r.Output.LessThan(dear)},
				{"cached", r.CachedInput.IsPositive()},
				{"write", r.CacheWrite == nil || r.CacheWrite.GreaterThanOrEqual(r.Input)},
				{"write of an hour", r.CacheWriteHour == nil || r.CacheWrite != nil && r.CacheWriteHour.GreaterThan(*r.CacheWrite)},
			} {
				assert.True(t, d.ok, "%s: %s: %s is out of range", name, what, d.what)
			}
		}
		check(e.Rates, "base")
		for i, tier := range e.Tiers {
			check(tier.Rates, "tier")
			assert.True(t, i == 0 || tier.Above > e.Tiers[i-1].Above, "%s: tiers ascend", name)
			assert.True(t, tier.Above >= 10_000 && tier.Input.GreaterThan(e.Input), "%s: long prompts are dearer", name)
		}
		if e.Batch != nil {
			check(e.Batch.Rates, "batch")
			assert.True(t, e.Batch.Input.LessThan(e.Input) && e.Batch.Output.LessThan(e.Output), "%s: batches are cheaper", name)
			assert.Len(t, e.Batch.Tiers, len(e.Tiers), name)
		}
	}
	for _, p := range []string{"openai", "google", "anthropic", "deepseek", "groq", "mistral", "together"} {
		assert.True(t, slices.ContainsFunc(entries, func(e price.Entry) bool { return e.Provider == p }), p)
	}
}

func day(s string) time.Time {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return d
}

func TestFind(t *testing.T) {
	for _, row := range []struct{ name, reason, id, want string }{
		{"exact", "as it stands", "gpt-4o", "openai/gpt-4o"},
		{"longer", "never the price of a model whose id begins alike", "gpt-4o-mini", "openai/gpt-4o-mini"},
		{"snapshot", "listed", "gpt-4o-2024-08-06", "openai/gpt-4o"},
		{"dearer snapshot", "has a row of its own", "gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13"},
		{"unlisted snapshot", "may cost anything", "gpt-4o-2031-01-01", ""},
		{"prefix of a model", "no model", "gpt-4", "openai/gpt-4"},
		{"half an id", "no model", "gpt-4o-", ""},
		{"further words", "another model", "gpt-4o-audio-preview", ""},
		{"fine-tuned", "has a price of its own", "ft:gpt-4o-2024-08-06:acme::x", ""},
		{"case", "providers tell case apart", "GPT-4o", ""},
		{"space", "no id has one", "gpt-4o ", ""},
		{"empty", "no model is named", "", ""},
		{"gateway's prefix", "names the provider", "openai/gpt-4o", "openai/gpt-4o"},
		{"the provider's other name", "gateways differ", "vertex_ai/gemini-2.5-pro", "google/gemini-2.5-pro"},
		{"provider's case", "names of providers have none", "OpenAI/gpt-4o", "openai/gpt-4o"},
		{"another's prefix", "who bills is somebody else", "openrouter/openai/gpt-4o", ""},
		{"Azure", "a deployment's name says nothing", "azure/gpt-4o", ""},
		{"wrong prefix", "Google does not sell it", "google/gpt-4o", ""},
		{"unknown prefix", "may be anybody's", "acme/gpt-4o", ""},
		{"prefix alone", "no model", "openai/", ""},
		{"Gemini's path", "as the API names it", "models/gemini-2.5-flash", "google/gemini-2.5-flash"},
		{"not Gemini's", "the path is Google's", "models/gpt-4o", ""},
		{"Vertex's path", "short", "publishers/google/models/gemini-2.5-flash", "google/gemini-2.5-flash"},
		{"Vertex's long path", "as requests have it", "projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash", "google/gemini-2.5-flash"},
		{"another publisher", "costs what Vertex AI says", "publishers/anthropic/models/claude-opus-4-5", ""},
		{"another publisher's Gemini", "whatever that is", "publishers/acme/models/gemini-2.5-flash", ""},
		{"endpoint", "a deployment", "projects/p/locations/us-central1/endpoints/123", ""},
		{"tuned", "not the model it came from", "tunedModels/gemini-2.5-flash", ""},
		{"host's bare id", "one's own server may have the same", "llama-3.3-70b-versatile", ""},
		{"open weights", "many hosts serve them", "openai/gpt-oss-120b", ""},
		{"host named", "its price", "groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"},
		{"other host named", "its price", "together/openai/gpt-oss-120b", "together/openai/gpt-oss-120b"},
		{"latest", "listed", "mistral-small-latest", "mistral/mistral-small-latest"},
		{"latest of nothing", "not listed", "gpt-4o-latest", ""},
		{"Anthropic's snapshot", "listed", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"},
		{"hostile", "nothing is like it", "gpt-4o\x00/../..", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, ok := price.Default().Find(row.id)
			require.Equal(t, row.want != "", ok, row.reason)
			if ok {
				assert.Equal(t, row.want, e.Provider+"/"+e.Model, row.reason)
			}
		})
	}
}

func TestOn(t *testing.T) {
	for _, row := range []struct{ reason, provider, id, want string }{
		{"its own id", "groq", "llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile"},
		{"its id with a slash", "groq", "openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"},
		{"its name twice", "groq", "groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"},
		{"another name of it", "together_ai", "openai/gpt-oss-120b", "together/openai/gpt-oss-120b"},
		{"another's model", "groq", "gpt-4o", ""},
		{"another's prefix", "groq", "together/openai/gpt-oss-120b", ""},
		{"Azure's deployments", "azure", "gpt-4o", ""},
		{"a gateway that says what calls cost", "openrouter", "openai/gpt-4o", ""},
		{"whoever made it", "openai", "openai/gpt-4o", "openai/gpt-4o"},
		{"Gemini by another name", "vertex", "models/gemini-2.5-flash", "google/gemini-2.5-flash"},
		{"unknown", "acme", "gpt-4o", ""},
		{"none", "", "gpt-4o", "openai/gpt-4o"},
	} {
		e, ok := price.Default().On("acme").On(row.provider).Find(row.id)
		require.Equal(t, row.want != "", ok, row.reason)
		if ok {
			assert.Equal(t, row.want, e.Provider+"/"+e.Model, row.reason)
		}
	}
	_, err := price.Default().On("azure").Cost("gpt-4o", known(1, 0, 0, 0), time.Time{})
	assert.EqualError(t, err, `model "gpt-4o" has no price on "azure"`)
}

func TestFindAt(t *testing.T) {
	for _, row := range []struct{ name, reason, model, at, want string }{
		{"before", "the introductory price", "gemini-4-argon", "2026-11-30T23:59:59Z", "2"},
		{"from its day on", "the day begins in UTC", "gemini-4-argon", "2026-12-01T00:00:00Z", "4"},
		{"no time", "as on the day of the table", "gemini-4-argon", "", "2"},
		{"history", "before peak hours", "deepseek-v4-flash", "2026-08-16T15:59:59Z", "0.14"},
		{"to the hour", "from 16:00 UTC", "deepseek-v4-flash", "2026-08-16T16:00:00Z", "0.22"},
		{"weekend then", "peak hours were on all days", "deepseek-v4-flash", "2026-08-22T02:00:00Z", "0.44"},
		{"weekend later", "and then on workdays only", "deepseek-v4-flash", "2026-08-23T02:00:00Z", "0.22"},
		{"too early", "what it cost before is not known", "gpt-5.6-luna", "2026-07-29T23:59:59Z", ""},
		{"just in time", "from that day on", "gpt-5.6-luna", "2026-07-30T00:00:00Z", "0.2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var at time.Time
			if row.at != "" {
				var err error
				at, err = time.Parse(time.RFC3339, row.at)
				require.NoError(t, err)
			}
			e, ok := price.Default().FindAt(row.model, at)
			require.Equal(t, row.want != "", ok, row.reason)
			if ok {
				assert.Equal(t, row.want, e.Input.String(), row.reason)
			}
		})
	}
}

func TestWith(t *testing.T) {
	base := price.Default()
	flat := func(provider, model, in string) price.Entry {
		return price.Entry{Provider: provider, Model: model, Rates: price.PerMillion(in, "", in)}
	}
	input := func(table *price.Table, id string) string {
		if e, ok := table.Find(id); ok {
			return e.Input.String()
		}
		return "unknown"
	}
	own := base.With(flat("", "gpt-4o", "7"))
	assert.Equal(t, "7 7 7 0.15", input(own, "gpt-4o")+" "+input(own, "gpt-4o-2024-08-06")+" "+input(own, "openai/gpt-4o")+" "+input(own, "gpt-4o-mini"),
		"an override counts for the model's snapshots, which answers name, and for no other model")
	assert.Equal(t, "2.5", input(base, "gpt-4o"), "the table itself never changes")
	snapshot := base.With(flat("openai", "gpt-4o-2024-08-06", "8"))
	assert.Equal(t, "2.5 8", input(snapshot, "gpt-4o")+" "+input(snapshot, "gpt-4o-2024-08-06"), "an override of a snapshot is its own")
	assert.Equal(t, "9", input(own.With(flat("", "gpt-4o", "9")), "gpt-4o"), "the last override wins")

	azure := base.With(flat("azure", "our-deployment", "3"))
	assert.Equal(t, "unknown 3 3", input(azure, "our-deployment")+" "+input(azure, "azure/our-deployment")+" "+input(azure.On("azure"), "our-deployment"))
	mine := base.With(flat("", "our/model", "0"))
	assert.Equal(t, "0", input(mine, "our/model"), "one's own server may be free")

	assert.Equal(t, "0", input(mine.On("vllm"), "our/model"), "an entry without a provider is on all")
	assert.Equal(t, "unknown", input(own.On("azure"), "gpt-4o"), "but the one for gpt-4o is OpenAI's")
	assert.Equal(t, "unknown", input(base.With(flat("", "m", "1")), "acme/m"), "and a prefix is somebody else's model")
	assert.Equal(t, "1", input(base.With(flat("acme", "m", "1")), "acme/m"), "of which a price may be given")

	history := base.With(flat("acme", "m", "1"), price.Entry{Provider: "acme", Model: "m", From: day("2026-03-01"), Rates: price.PerMillion("2", "", "2")})
	e, ok := history.FindAt("m", day("2026-02-28"))
	require.True(t, ok)
	assert.Equal(t, "1", e.Input.String())
	assert.Equal(t, "2", input(history, "m"), "without a time, the last")
	flash := base.With(flat("deepseek", "deepseek-v4-flash", "5"))
	for _, at := range []string{"2026-06-01", "2026-08-20", "2026-10-20"} {
		e, ok = flash.FindAt("deepseek-v4-flash", day(at))
		require.True(t, ok)
		assert.Equal(t, "5", e.Input.String(), "an override replaces the whole history")
	}
	alias := base.With(flat("openai", "gpt-5.6", "6"))
	assert.Equal(t, "6 4", input(alias, "gpt-5.6")+" "+input(alias, "gpt-5.6-sol"), "an alias that is overridden is nobody else's, whenever that began")
	assert.Panics(t, func() { base.With(price.Entry{}) })
}

func TestTableInBatch(t *testing.T) {
	batch := price.Default().InBatch()
	usd, err := batch.Cost("gpt-4o-mini", known(1000000, 0, 1000000, 0), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, "0.375", usd.String(), "half of 0.15 and 0.60")
	usd, err = batch.Cost("gemini-2.5-pro", known(1000000, 1000000, 1000000, 0), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, "7.75", usd.String(), "cached input of a long prompt is not discounted there")
	_, err = batch.Cost("gemini-2.0-flash", known(1, 0, 0, 0), time.Time{})
	assert.EqualError(t, err, `model "gemini-2.0-flash" has no price for batches`)
}

func TestTableCost(t *testing.T) {
	table := price.Default()
	for _, row := range []struct {
		name, reason, model string
		usage               llm.Usage
		is                  error
		text                string
	}{
		{"no model", "an application's own answer", "", known(1, 0, 1, 0), price.ErrNoPrice, "no price: no model is named"},
		{"no price", "names the model", "gpt-x", known(1, 0, 1, 0), price.ErrNoPrice, `model "gpt-x" has no price`},
		{"no usage", "unknown is not free", "gpt-4o", llm.Usage{}, price.ErrNoUsage, "no usage was reported"},
		{"contradiction", "names the numbers", "gpt-4o", known(1, 2, 3, 4), price.ErrNoUsage, "no usage: it contradicts itself: 1 input, 2 of it cached, 3 output, 4 of it reasoning"},
		{"no time", "the hour decides", "deepseek-flash", known(1, 0, 1, 0), price.ErrNoPrice, `model "deepseek-flash" has no price without a time: it has peak hours`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := table.Cost(row.model, row.usage, time.Time{})
			require.ErrorIs(t, err, row.is, row.reason)
			assert.EqualError(t, err, row.text)
			usd, ok := table.Response(llm.Response{Model: row.model, Usage: row.usage})
			assert.False(t, ok)
			assert.Empty(t, usd)
		})
	}
	noOutput := table.With(func() price.Entry { e := entry(t, prices{"in": "1"}); e.Model = "m"; return e }())
	_, err := noOutput.Cost("m", known(1, 0, 1, 0), time.Time{})
	assert.EqualError(t, err, `model "m" has no price for part of what was used`)
}

func TestTableResponse(t *testing.T) {
	table := price.Default()
	for _, row := range []struct {
		name, reason string
		resp         llm.Response
		usd          string
	}{
		{"by the table", "model and usage", llm.Response{Model: "gpt-4o", Usage: known(2006, 1920, 300, 0)}, "0.005615"},
		{"provider's own", "who sends the bill knows best", llm.Response{Model: "gpt-4o", CostUSD: "0.0042", Usage: known(2006, 1920, 300, 0)}, "0.0042"},
		{"provider's own, unknown model", "no price is needed", llm.Response{Model: "x", CostUSD: "0.0042"}, "0.0042"},
		{"by the hour", "the call's own time", llm.Response{Model: "deepseek-flash", Usage: known(1000000, 0, 0, 0), Timing: llm.Timing{Start: time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)}}, "0.3"},
		{"nothing used", "zero is known", llm.Response{Model: "gpt-4o", Usage: known(0, 0, 0, 0)}, "0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			usd, ok := table.Response(row.resp)
			assert.True(t, ok)
			assert.Equal(t, row.usd, usd, row.reason)
		})
	}
}

func TestTableIsSafe(t *testing.T) {
	done := make(chan bool)
	for range 4 {
		go func() {
			table := price.Default().With(price.Entry{Model: "m"})
			_, ok := table.On("openai").InBatch().Find("gpt-4o")
			done <- ok
		}()
	}
	for range 4 {
		assert.True(t, <-done)
	}
}

func BenchmarkResponse(b *testing.B) {
	table := price.Default()
	resp := llm.Response{Model: "gpt-4o-2024-08-06", Usage: known(2006, 1920, 300, 0)}
	for b.Loop() {
		table.Response(resp)
	}
}
