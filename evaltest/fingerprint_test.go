package evaltest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// TestHashItems: what is asked and wanted counts, the order does not.
func TestHashItems(t *testing.T) {
	base := func() []dataset.Item {
		return []dataset.Item{{ID: "a", Input: "x", Target: "y"}, {ID: "b", Input: "x", Target: "y", Targets: []string{"z"}, Group: "g"}, {ID: "c", Choices: []string{"1", "2"}, Target: "1"}}
	}
	hash := func(items []dataset.Item) string {
		ds, err := dataset.New("x", items)
		require.NoError(t, err)
		return hashItems(ds)
	}
	want := hash(base())
	assert.Len(t, want, 32)
	turned := base()
	slices.Reverse(turned)
	assert.Equal(t, want, hash(turned), "the order")
	seen := map[string]string{want: "base"}
	for name, change := range map[string]func([]dataset.Item) []dataset.Item{
		"id":      func(l []dataset.Item) []dataset.Item { l[0].ID = "A"; return l },
		"input":   func(l []dataset.Item) []dataset.Item { l[0].Input = "X"; return l },
		"target":  func(l []dataset.Item) []dataset.Item { l[0].Target = "Y"; return l },
		"targets": func(l []dataset.Item) []dataset.Item { l[1].Targets = nil; return l },
		"group":   func(l []dataset.Item) []dataset.Item { l[1].Group = ""; return l },
		"choices": func(l []dataset.Item) []dataset.Item { l[2].Choices = []string{"2", "1"}; return l },
		"moved":   func(l []dataset.Item) []dataset.Item { l[0].Input, l[0].Target = "", "xy"; return l },
		"swapped": func(l []dataset.Item) []dataset.Item { l[0].ID, l[1].ID = "b", "a"; return l },
		"fewer":   func(l []dataset.Item) []dataset.Item { return l[:2] },
	} {
		h := hash(change(base()))
		assert.Empty(t, seen[h], name)
		seen[h] = name
	}
}

// TestFingerprint: the settings of a request can be read, what may hold a key
// is left out, and the first item is the first by id.
func TestFingerprint(t *testing.T) {
	items := []dataset.Item{{ID: "b", Input: "two", Target: "y"}, {ID: "a", Input: "one", Target: "y"}}
	ask := run.Ask(namedModel{}, func(it dataset.Item) llm.Request {
		req := llm.Prompt(it.Input)
		req.Temperature = new(0.25)
		req.Extra = map[string]json.RawMessage{"token": json.RawMessage(`"secret"`)}
		return req
	})
	ds, err := dataset.New("x", items)
	require.NoError(t, err)
	slices.Reverse(items)
	turned, err := dataset.New("x", items)
	require.NoError(t, err)
	set := &settings{grader: grade.Exact()}
	f := fingerprintOf(set, ds, ask)
	assert.Equal(t, f, fingerprintOf(set, turned, ask))
	assert.Equal(t, `{"temperature":0.25}`, f["request settings"])
	assert.NotEmpty(t, f["first item's request"])
	assert.NotEmpty(t, f["evals"])
	set.judgeIncorrect = true
	assert.NotEqual(t, f, fingerprintOf(set, ds, ask))
	assert.NotContains(t, fingerprintOf(set, ds, StrategyFunc(nil)), "request settings", "a function does not say")

	// What is asked about a later item alone shows only where runs are compared.
	later := run.Ask(namedModel{}, func(it dataset.Item) llm.Request {
		if it.ID != firstByID(ds).ID {
			return llm.Prompt("Please: " + it.Input)
		}
		req, _ := ask.(run.Requester).Request(it)
		return req
	})
	assert.Equal(t, fingerprintOf(set, ds, ask), fingerprintOf(set, ds, later))
	before := header(set, place{}, "T", ds, ask)
	set.baseline = "base.jsonl.gz"
	assert.NoError(t, sameRun(before, header(set, place{}, "T", ds, ask)), "a baseline came in between: the run may go on")
	assert.ErrorContains(t, sameRun(header(set, place{}, "T", ds, ask), header(set, place{}, "T", ds, later)), "the requests was")
	one, other := fingerprintOf(set, ds, ask), fingerprintOf(set, ds, later)
	assert.Equal(t, one[gate.FieldRequests], fingerprintOf(set, turned, ask)[gate.FieldRequests])
	assert.NotEqual(t, one[gate.FieldRequests], other[gate.FieldRequests])
	delete(one, gate.FieldRequests)
	delete(other, gate.FieldRequests)
	assert.Equal(t, one, other)
}

type namedModel struct{}

func (namedModel) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, nil
}
