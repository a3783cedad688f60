package dataset

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMapping(t *testing.T) {
	tests := []struct {
		name, reason, row string
		mapping           Mapping
		want              Item
		meta              map[string]any
	}{
		{
			name: "defaults", reason: "the usual names need no mapping",
			row:  `{"id":"a","question":"q","answer":"x","group":"g","level":3}`,
			want: Item{ID: "a", Input: "q", Target: "x", Group: "g"},
			meta: map[string]any{"level": json.Number("3")},
		},
		{
			name: "numbers keep their digits", reason: "float64 would round the first and shorten the second",
			row:  `{"id":12345678901234567890,"input":1.50,"target":12345678901234567890}`,
			want: Item{ID: "12345678901234567890", Input: "1.50", Target: "12345678901234567890"},
			meta: map[string]any{},
		},
		{
			name: "trailing zeros", reason: "1.50 and 1.5 differ for an exact grader",
			row:  `{"input":"q","target":1.50}`,
			want: Item{ID: "1", Input: "q", Target: "1.50"},
		},
		{
			name: "booleans and objects", reason: "they stand as their JSON",
			row:  `{"input":true,"target":{"b": 1, "a":[2]}}`,
			want: Item{ID: "1", Input: "true", Target: `{"b": 1, "a":[2]}`},
		},
		{
			name: "list target", reason: "openai/evals writes ideal as a list of accepted answers",
			row:  `{"input":"q","ideal":["a",2,true]}`,
			want: Item{ID: "1", Input: "q", Target: "a", Targets: []string{"2", "true"}},
		},
		{
			name: "list target and targets", reason: "both add up",
			row:  `{"input":"q","target":["a","b"],"targets":["c"]}`,
			want: Item{ID: "1", Input: "q", Target: "a", Targets: []string{"b", "c"}},
		},
		{
			name: "targets alone", reason: "the first is the Target",
			row:  `{"input":"q","targets":["a","b"]}`,
			want: Item{ID: "1", Input: "q", Target: "a", Targets: []string{"b"}},
		},
		{
			name: "list of objects", reason: "expected tool calls are one answer",
			row:  `{"input":"q","target":[{"name":"f"}]}`,
			want: Item{ID: "1", Input: "q", Target: `[{"name":"f"}]`},
		},
		{
			name: "list as JSON", reason: "a list may be the answer itself",
			row: `{"input":"q","target":[1, 2]}`, mapping: Mapping{TargetJSON: true},
			want: Item{ID: "1", Input: "q", Target: "[1, 2]"},
		},
		{
			name: "choices", reason: "a letter is a target",
			row:  `{"input":"q","choices":["x","y",3],"answer":"C"}`,
			want: Item{ID: "1", Input: "q", Choices: []string{"x", "y", "3"}, Target: "C"},
		},
		{
			name: "choices by text", reason: "the text of a choice is a target",
			row:  `{"input":"q","options":["x","y"],"answer":"y"}`,
			want: Item{ID: "1", Input: "q", Choices: []string{"x", "y"}, Target: "y"},
		},
		{
			name: "choices by letter", reason: "an object keyed by letters",
			row:  `{"input":"q","choices":{"A":"x","B":"y"},"answer":"B"}`,
			want: Item{ID: "1", Input: "q", Choices: []string{"x", "y"}, Target: "B"},
		},
		{
			name: "options that are settings", reason: "a default column of another kind is metadata",
			row:  `{"input":"q","answer":1,"options":{"t":0},"group":{"n":1},"targets":"none"}`,
			want: Item{ID: "1", Input: "q", Target: "1"},
			meta: map[string]any{"options": map[string]any{"t": json.Number("0")}, "group": map[string]any{"n": json.Number("1")}, "targets": "none"},
		},
		{
			name: "index", reason: "MMLU gives the number of the choice",
			row: `{"question":"q","choices":["x","y","z"],"answer":2}`, mapping: Mapping{TargetIndex: true},
			want: Item{ID: "1", Input: "q", Choices: []string{"x", "y", "z"}, Target: "C"},
		},
		{
			name: "several indexes", reason: "each is a choice, also where its digits are a choice's text",
			row: `{"question":"q","choices":["x","y","2"],"answer":[0,2]}`, mapping: Mapping{TargetIndex: true},
			want: Item{ID: "1", Input: "q", Choices: []string{"x", "y", "2"}, Target: "A", Targets: []string{"C"}},
		},
		{
			name: "by name", reason: "columns with names of their own",
			row:     `{"uid":7,"text":"q","label":"x","topic":"t","question":"not this"}`,
			mapping: Mapping{ID: "uid", Input: "text", Target: "label", Group: "topic"},
			want:    Item{ID: "7", Input: "q", Target: "x", Group: "t"},
			meta:    map[string]any{"question": "not this"},
		},
		{
			name: "mapped columns are no defaults", reason: "answer is the input here, so it is no second target",
			row: `{"answer":"q","target":"x"}`, mapping: Mapping{Input: "answer"},
			want: Item{ID: "1", Input: "q", Target: "x"}, meta: map[string]any{},
		},
		{
			name: "paths", reason: "hub datasets nest",
			row:     `{"doc":{"q":{"text":"q"},"id":"d1"},"choices":{"text":["x","y"],"label":["A","B"]},"answerKey":"B"}`,
			mapping: Mapping{ID: "doc.id", Input: "doc.q.text", Choices: "choices.text", Target: "answerKey"},
			want:    Item{ID: "d1", Input: "q", Choices: []string{"x", "y"}, Target: "B"},
			meta: map[string]any{ // partly used columns stay whole
				"doc":     map[string]any{"q": map[string]any{"text": "q"}, "id": "d1"},
				"choices": map[string]any{"text": []any{"x", "y"}, "label": []any{"A", "B"}},
			},
		},
		{
			name: "column with a dot", reason: "the name itself comes first",
			row: `{"a.b":"q","answer":1}`, mapping: Mapping{Input: "a.b"},
			want: Item{ID: "1", Input: "q", Target: "1"}, meta: map[string]any{},
		},
		{
			name: "none and whole", reason: "an application decodes the row itself, a judge needs no target",
			row: `{"ticket":{"n":1}}`, mapping: Mapping{Input: WholeRow, Target: NoColumn},
			want: Item{ID: "1", Input: `{"ticket":{"n":1}}`},
		},
		{
			name: "nulls", reason: "a null column is not there",
			row:  `{"id":null,"input":"q","prompt":null,"answer":"x","target":null,"group":null,"choices":null}`,
			want: Item{ID: "1", Input: "q", Target: "x"},
		},
		{
			name: "escapes", reason: "names and values are decoded",
			row:  `{"\u0069nput":"a\n\u00e9\ud83d\ude00","target":"\"x\\"}`,
			want: Item{ID: "1", Input: "a\né😀", Target: `"x\`}, meta: map[string]any{},
		},
		{
			name: "empty target", reason: "it is said to be empty, so it is: with a warning",
			row:  `{"input":"q","target":""}`,
			want: Item{ID: "1", Input: "q"},
		},
	}
	var seen []string
	for _, tt := range tests {
		unique(t, &seen, tt.name, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			d := mustRead(t, tt.row+"\n", Fields(tt.mapping))
			tt.want.Raw = json.RawMessage(tt.row)
			if diff := cmp.Diff(tt.want, d.At(0)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if tt.meta != nil {
				meta, err := d.At(0).Metadata()
				require.NoError(t, err)
				assert.Equal(t, tt.meta, meta)
			}
		})
	}
	assert.Len(t, mustRead(t, `{"input":"q","target":""}`).Warnings(), 1)
	assert.Len(t, mustRead(t, `{"input":"q"}`, Fields(Mapping{Target: NoColumn})).Warnings(), 0)
}

func TestMappingRefuses(t *testing.T) {
	tests := []struct {
		name, row string
		mapping   Mapping
		is        error
		says      string
	}{
		{"mapped column is missing", `{"input":"q","answer":1}`, Mapping{Target: "label"}, ErrField, `"label"`},
		{"mapped path is missing", `{"input":"q","a":{"c":1}}`, Mapping{Target: "a.b"}, ErrField, `"a.b"`},
		{"path through text", `{"input":"q","a":"b"}`, Mapping{Target: "a.b"}, ErrField, `"a.b"`},
		{"null target", `{"input":"q","answer":null}`, Mapping{}, ErrRow, `column "answer" (Target): is null`},
		{"second index beyond the choices", `{"input":"q","answer":[0,2],"choices":["x","y"]}`, Mapping{TargetIndex: true}, ErrRow, `"2" is not the number`},
		{"mapped id in no row", `{"uid":"a","input":"q","answer":1}`, Mapping{ID: "uuid"}, ErrField, `no row has the column "uuid" that Mapping.ID names; the first row has "uid", "input", "answer"`},
		{"mapped group in no row", `{"input":"q","answer":1}`, Mapping{Group: "topic"}, ErrField, `Mapping.Group`},
		{"mapped choices in no row", `{"input":"q","answer":1}`, Mapping{Choices: "c.text"}, ErrField, `Mapping.Choices`},
		{"mapped targets in no row", `{"input":"q","answer":1}`, Mapping{Targets: "more"}, ErrField, `Mapping.Targets`},
		{"column and path", `{"input":"q","a.b":1,"a":{"b":2}}`, Mapping{Target: "a.b"}, ErrField, `both`},
		{"mapped null", `{"input":"q","label":null}`, Mapping{Target: "label"}, ErrRow, `is null`},
		{"mapped group of a wrong kind", `{"input":"q","answer":1,"g":{}}`, Mapping{Group: "g"}, ErrRow, `"g"`},
		{"mapped choices of a wrong kind", `{"input":"q","answer":1,"c":"x"}`, Mapping{Choices: "c"}, ErrRow, `not a list`},
		{"choices by wrong letters", `{"input":"q","answer":"B","choices":{"A":1,"C":2}}`, Mapping{}, ErrRow, `A, B, C, … in order: key 2 is "C"`},
		{"empty choices", `{"input":"q","answer":"B","choices":[]}`, Mapping{}, ErrRow, `empty list`},
		{"choices of objects", `{"input":"q","answer":"B","choices":[{}]}`, Mapping{}, ErrRow, `element 1`},
		{"targets of objects", `{"input":"q","answer":"B","targets":["x",{}]}`, Mapping{}, ErrRow, `element 2`},
		{"index beyond the choices", `{"input":"q","answer":2,"choices":["x","y"]}`, Mapping{TargetIndex: true}, ErrRow, `counted from 0`},
		{"index by default", `{"input":"q","answer":1,"choices":["x","y"]}`, Mapping{}, ErrTarget, `neither`},
		{"further target not among the choices", `{"input":"q","answer":["x","w"],"choices":["x","y"]}`, Mapping{}, ErrTarget, `"w"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.row), "x", Fields(tt.mapping))
			require.ErrorIs(t, err, tt.is)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}

// TestMappedColumnInSomeRows: a column may be missing from rows, as long as it
// is known that its name is no slip.
func TestMappedColumnInSomeRows(t *testing.T) {
	content := `{"input":"q","answer":1}` + "\n" + `{"input":"q","answer":1,"topic":"t","uid":null}` + "\n"
	d := mustRead(t, content, Fields(Mapping{Group: "topic", ID: "uid"}))
	assert.Equal(t, "t", d.At(1).Group)
	assert.Equal(t, []string{"1", "2"}, idsOf(d))
	_, err := Open(file(t, "x.jsonl", content), Fields(Mapping{Group: "topc"}))
	require.ErrorIs(t, err, ErrField)
}

// TestApplicationRows: the error of a row without the usual columns says what
// evaltest.App needs, and that is enough.
func TestApplicationRows(t *testing.T) {
	row := `{"ticket":{"subject":"s"},"team":"x"}`
	_, err := Read(strings.NewReader(row), "x")
	require.ErrorContains(t, err, `(evaltest.App): dataset.Fields(dataset.Mapping{Input: ".", Target: "-"}).`)
	_, err = Read(strings.NewReader(row), "x", Fields(Mapping{Input: "."}))
	require.ErrorContains(t, err, `dataset.Mapping{Input: ".", Target: "-"}`)
	d := mustRead(t, row, Fields(Mapping{Input: ".", Target: "-"}))
	assert.Equal(t, row, d.At(0).Input)
	assert.Empty(t, d.Warnings())
}

func TestDecode(t *testing.T) {
	mine := errors.New("no such thing")
	decode := func(row json.RawMessage) (Item, error) {
		var r struct{ Q, A, Key string }
		if err := json.Unmarshal(row, &r); err != nil {
			return Item{}, err
		}
		if r.A == "" {
			return Item{}, mine
		}
		return Item{ID: r.Key, Input: r.Q, Target: r.A}, nil
	}
	rows := `{"Q":"q1","A":"a1","key":"k"}` + "\n" + `{"Q":"q2","A":"a2"}` + "\n"
	d := mustRead(t, rows, Decode(decode), AutoID(func(n int) string { return "row-" + itoa(n) }))
	assert.Equal(t, []string{"k", "row-2"}, idsOf(d))
	assert.JSONEq(t, `{"Q":"q2","A":"a2"}`, string(d.At(1).Raw), "the loader keeps the row")
	require.Len(t, d.Warnings(), 1, "some rows have ids, some are numbered")
	assert.ErrorContains(t, d.Warnings()[0], "1 of 2 rows")
	meta, err := d.At(1).Metadata()
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"Q": "q2", "A": "a2"}, meta, "which columns were used is not known")

	_, err = Read(strings.NewReader(rows+`{"Q":"q3"}`), "x", Decode(decode))
	require.ErrorIs(t, err, mine)
	require.ErrorIs(t, err, ErrRow)
	assert.ErrorContains(t, err, "x:3: ")

	_, err = Read(strings.NewReader(rows), "x", Decode(decode), AutoID(func(int) string { return "" }))
	assert.ErrorContains(t, err, "AutoID")
	_, err = Read(strings.NewReader(`{"question":1,"answer":2}`), "x", AutoID(func(int) string { return "\xff" }))
	assert.ErrorContains(t, err, "not UTF-8", "mapped rows too")
	_, err = Read(strings.NewReader(rows), "x", Decode(func(json.RawMessage) (Item, error) { return Item{Input: "\xff"}, nil }))
	assert.ErrorContains(t, err, "not UTF-8")
	_, err = Read(strings.NewReader(`{"a":1,"a":2}`), "x", Decode(decode))
	assert.ErrorIs(t, err, ErrDuplicateKey, "syntax is checked before the function sees the row")
}

func TestItemDecode(t *testing.T) {
	d := mustRead(t, `{"id":"a","question":"q","answer":7,"n":12345678901234567890}`)
	var row struct {
		Question string      `json:"question"`
		Answer   int         `json:"answer"`
		N        json.Number `json:"n"`
	}
	require.NoError(t, d.At(0).Decode(&row))
	assert.Equal(t, 7, row.Answer)
	assert.Equal(t, json.Number("12345678901234567890"), row.N)
	var wrong struct {
		Question int `json:"question"`
	}
	assert.ErrorContains(t, d.At(0).Decode(&wrong), `item "a"`)
	assert.ErrorIs(t, Item{ID: "x"}.Decode(&row), ErrNoRow)
	meta, err := Item{ID: "x"}.Metadata()
	require.NoError(t, err)
	assert.Empty(t, meta)
	_, err = Item{Raw: []byte("{")}.Metadata()
	assert.Error(t, err, "Raw was changed by hand")
}
