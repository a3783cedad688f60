package dataset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOverrides(t *testing.T) {
	path := file(t, "overrides.jsonl", `
{"id":"r2","target":"14","reason":"issue 25: the second number is asked"}
{"id":3,"target":[1.50,"x"],"targets":["y"],"reason":"two readings"}
{"id":"r4","skip":true,"reason":"no answer exists"}
`)
	content := rows(5) + `{"id":3,"question":"q","answer":0}` + "\n"
	d := mustRead(t, content, OverridesFile(path), Overrides(Override{ID: "r5", Target: "5", Reason: "already so"}))
	assert.Equal(t, []string{"r1", "r2", "r3", "r5", "3"}, idsOf(d))
	assert.Equal(t, "14", d.At(1).Target)
	assert.Equal(t, "1.50", d.At(4).Target)
	assert.Equal(t, []string{"x", "y"}, d.At(4).Targets)
	assert.JSONEq(t, row(2), string(d.At(1).Raw), "the row stays as it stood")
	var got []string
	for _, o := range d.Overrides() {
		got = append(got, o.ID+" "+o.Was+"→"+o.Target+" "+o.Reason)
	}
	assert.Equal(t, []string{"r2 2→14 issue 25: the second number is asked", "r4 4→ no answer exists", "r5 5→5 already so", "3 0→1.50 two readings"}, got)
	require.Len(t, d.Warnings(), 1, "an override that changes nothing should go")
	assert.ErrorContains(t, d.Warnings()[0], `"r5"`)
	assert.Equal(t, mustRead(t, content).SHA256(), d.SHA256(), "the content is the same")

	part, err := d.Select(Limit(1))
	require.NoError(t, err)
	require.Len(t, part.Overrides(), 1, "of this selection, and all skips")
	assert.Equal(t, "r4", part.Overrides()[0].ID)
	_, err = d.Select(IDs("r4"))
	require.ErrorIs(t, err, ErrUnknownID)
	assert.ErrorContains(t, err, "no answer exists", "says that and why it was skipped")
	later, err := mustRead(t, rows(5)).Select(Overrides(Override{ID: "r1", Target: "9", Reason: "x"}), Limit(2))
	require.NoError(t, err)
	assert.Equal(t, "9", later.At(0).Target)
	assert.Len(t, later.Overrides(), 1)

	seq, err := Open(file(t, "x.jsonl", content), OverridesFile(path))
	require.NoError(t, err)
	n := 0
	for it, err := range seq {
		require.NoError(t, err)
		assert.Equal(t, d.At(n), it)
		n++
	}
	assert.Equal(t, 5, n)
}

// TestOverrideMendsChoices: D13 both ways. A row whose target is none of its
// choices is refused, unless an override corrects or skips it.
func TestOverrideMendsChoices(t *testing.T) {
	content := `{"id":"a","question":"q","choices":["x","y"],"answer":"z"}`
	_, err := Read(strings.NewReader(content), "x")
	require.ErrorIs(t, err, ErrTarget)
	d := mustRead(t, content, Overrides(Override{ID: "a", Target: "B", Reason: "typo"}))
	assert.Equal(t, "B", d.At(0).Target)
	_, err = Read(strings.NewReader(content), "x", Overrides(Override{ID: "a", Target: "w", Reason: "typo"}))
	require.ErrorIs(t, err, ErrTarget, "an override is checked as well")
	_, err = Read(strings.NewReader(content), "x", Overrides(Override{ID: "a", Skip: true, Reason: "typo"}))
	require.ErrorIs(t, err, ErrEmpty)
	assert.ErrorContains(t, err, "skip every item")
	_, err = Read(strings.NewReader(content), "x", Overrides(Override{ID: "b", Target: "B", Reason: "typo"}))
	require.Error(t, err)
}

func TestOverridesRefuses(t *testing.T) {
	tests := []struct {
		name, content string
		is            error
		says          string
	}{
		{"unknown id", `{"id":"r22","target":"1","reason":"x"}`, ErrUnknownID, `the nearest is "r2"`},
		{"no reason", `{"id":"r2","target":"1"}`, ErrOverride, "no reason"},
		{"empty reason", `{"id":"r2","target":"1","reason":""}`, ErrOverride, "no reason"},
		{"reason that is no text", `{"id":"r2","target":"1","reason":7}`, ErrOverride, "not a text"},
		{"no id", `{"target":"1","reason":"x"}`, ErrOverride, "no id"},
		{"neither", `{"id":"r2","reason":"x"}`, ErrOverride, "neither"},
		{"skip false", `{"id":"r2","skip":false,"reason":"x"}`, ErrOverride, "neither"},
		{"both", `{"id":"r2","target":"1","skip":true,"reason":"x"}`, ErrOverride, "both"},
		{"null target", `{"id":"r2","target":null,"reason":"x"}`, ErrOverride, "null"},
		{"misspelt key", `{"id":"r2","targt":"1","reason":"x"}`, ErrOverride, `"targt"`},
		{"skip that is no boolean", `{"id":"r2","skip":"yes","reason":"x"}`, ErrOverride, `"skip"`},
		{"twice", `{"id":"r2","target":"1","reason":"x"}` + "\n" + `{"id":"r2","skip":true,"reason":"x"}`, ErrOverride, "overridden already"},
		{"duplicate key", `{"id":"r2","target":"1","target":"2","reason":"x"}`, ErrDuplicateKey, "/target"},
		{"not JSON", `r2: 14`, ErrSyntax, ":1:"},
		{"empty", ``, ErrEmpty, "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := file(t, "overrides.jsonl", tt.content)
			_, err := Read(strings.NewReader(rows(3)), "x", OverridesFile(path))
			require.ErrorIs(t, err, tt.is)
			assert.ErrorContains(t, err, tt.says)
			assert.ErrorContains(t, err, path, "names the overrides' file")
		})
	}
	_, err := Read(strings.NewReader(rows(3)), "x", OverridesFile("none.jsonl"))
	assert.ErrorContains(t, err, "none.jsonl")
	one := Override{ID: "r1", Target: "1", Reason: "x"}
	_, err = Read(strings.NewReader(rows(3)), "x", Overrides(one), Overrides(one))
	assert.ErrorIs(t, err, ErrOverride, "in code as well")
	_, err = Read(strings.NewReader(rows(3)), "x", Overrides(Override{ID: "r1", Target: "1"}))
	assert.ErrorContains(t, err, "no reason")
	_, err = Read(strings.NewReader(rows(3)), "x", Overrides(Override{ID: "r1", Target: "\xff", Reason: "x"}))
	require.ErrorIs(t, err, ErrOverride)
	assert.ErrorContains(t, err, "not UTF-8")
}
