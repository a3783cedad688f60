package gsm8k

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
)

// split is the path of the real test split. It is not ours to commit: tests
// use it where it is.
func split(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, "data", "gsm8k_test.jsonl.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the GSM8K test split is not at %s; EVALTEST_SHARED names the folder above data/", path)
	}
	return path
}

// TestSplit: D12, on the real file.
func TestSplit(t *testing.T) {
	d, err := Load(split(t))
	require.NoError(t, err)
	require.Equal(t, TestItems, d.Len())
	assert.Equal(t, TestSHA256, d.SHA256())
	assert.Empty(t, d.Warnings())
	integer := regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	commas, negative := 0, 0
	for item := range d.All() {
		require.Regexp(t, integer, item.Target, item.ID)
		var row struct{ Answer string }
		require.NoError(t, item.Decode(&row), "the row is kept")
		gold := row.Answer[strings.LastIndex(row.Answer, marker)+len(marker):]
		if strings.Contains(gold, ",") {
			commas++
		}
		if strings.HasPrefix(item.Target, "-") {
			negative++
		}
	}
	assert.Equal(t, 14, commas)
	assert.Equal(t, 2, negative)
	for i, want := range map[int]string{0: "18", 146: "2125", 611: "1450000", 489: "-10", 1113: "-3"} {
		assert.Equal(t, want, d.At(i).Target)
		assert.Equal(t, ID(i+1), d.At(i).ID)
	}
	assert.Equal(t, "gsm8k-0001", d.At(0).ID)
	assert.Equal(t, "gsm8k-1319", d.At(1318).ID)
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, reason, row string
		want              dataset.Item
		err               string
	}{
		{"plain", "the format", `{"question":"q","answer":"2+2=<<2+2=4>>4\n#### 4"}`, dataset.Item{Input: "q", Target: "4"}, ""},
		{"commas", "D12", `{"question":"q","answer":"#### 1,450,000"}`, dataset.Item{Input: "q", Target: "1450000"}, ""},
		{"negative", "D12", `{"question":"q","answer":"#### -10"}`, dataset.Item{Input: "q", Target: "-10"}, ""},
		{"beyond 64 bits", "digits are kept", `{"question":"q","answer":"#### 123456789012345678901"}`, dataset.Item{Input: "q", Target: "123456789012345678901"}, ""},
		{"canonical", "one number, one text", `{"question":"q","answer":"#### -007"}`, dataset.Item{Input: "q", Target: "-7"}, ""},
		{"negative zero", "one number, one text", `{"question":"q","answer":"#### -0"}`, dataset.Item{Input: "q", Target: "0"}, ""},
		{"last marker", "a solution may quote the mark", `{"question":"q","answer":"after #### 3 comes\n#### 4 "}`, dataset.Item{Input: "q", Target: "4"}, ""},
		{"text id", "a file may name its rows", `{"id":"a","question":"q","answer":"#### 4"}`, dataset.Item{ID: "a", Input: "q", Target: "4"}, ""},
		{"number id", "a file may number its rows", `{"id":17,"question":"q","answer":"#### 4"}`, dataset.Item{ID: "17", Input: "q", Target: "4"}, ""},
		{"null id", "a null is no id", `{"id":null,"question":"q","answer":"#### 4"}`, dataset.Item{Input: "q", Target: "4"}, ""},
		{"no marker", "D12: self-check", `{"question":"q","answer":"4"}`, dataset.Item{}, "no final integer"},
		{"decimal", "D12: self-check", `{"question":"q","answer":"#### 4.5"}`, dataset.Item{}, `"4.5"`},
		{"dollar", "D12: self-check", `{"question":"q","answer":"#### $18"}`, dataset.Item{}, `"$18"`},
		{"words", "D12: self-check", `{"question":"q","answer":"#### 18 eggs"}`, dataset.Item{}, `"18 eggs"`},
		{"nothing", "D12: self-check", `{"question":"q","answer":"#### "}`, dataset.Item{}, `""`},
		{"minus alone", "no number", `{"question":"q","answer":"#### -"}`, dataset.Item{}, `"-"`},
		{"stray commas", "no number", `{"question":"q","answer":"#### 1,,0"}`, dataset.Item{}, `"1,,0"`},
		{"comma at the end", "no number", `{"question":"q","answer":"#### 10,"}`, dataset.Item{}, `"10,"`},
		{"underscores", "Go's number syntax is not GSM8K's", `{"question":"q","answer":"#### 1_000"}`, dataset.Item{}, `"1_000"`},
		{"other script", "digits are ASCII", `{"question":"q","answer":"#### ١٨"}`, dataset.Item{}, "is no integer"},
		{"no question", "nothing to ask", `{"answer":"#### 4"}`, dataset.Item{}, `"question"`},
		{"empty question", "nothing to ask", `{"question":" ","answer":"#### 4"}`, dataset.Item{}, `"question"`},
		{"case of the name", "Question is another column", `{"Question":"q","answer":"#### 4"}`, dataset.Item{}, `"question"`},
		{"no answer", "nothing to compare", `{"question":"q"}`, dataset.Item{}, `"answer"`},
		{"number as answer", "another format", `{"question":"q","answer":4}`, dataset.Item{}, `"answer" is not a text`},
		{"null question", "nothing to ask", `{"question":null,"answer":"#### 4"}`, dataset.Item{}, `"question"`},
		{"empty id", "it names nothing", `{"id":"","question":"q","answer":"#### 4"}`, dataset.Item{}, "id is empty"},
		{"id of another kind", "it names nothing", `{"id":[1],"question":"q","answer":"#### 4"}`, dataset.Item{}, "neither a text nor a number"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason)
		require.False(t, seen[tt.name], tt.name)
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(json.RawMessage(tt.row))
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err, tt.reason)
				return
			}
			require.NoError(t, err, tt.reason)
			assert.True(t, tt.want.Equal(got), "%s: %+v", tt.reason, got)
		})
	}
}

// TestFinalIsQuick: a row of hostile length costs no more than reading it.
func TestFinalIsQuick(t *testing.T) {
	digits := strings.Repeat("7", 20_000_000)
	got, err := Final(marker + " 000" + digits)
	require.NoError(t, err)
	assert.True(t, got == digits, "digit for digit")
}

// TestSelfCheck: every row without a final integer is listed.
func TestSelfCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	good, bad := `{"question":"q","answer":"#### 4"}`+"\n", `{"question":"q","answer":"#### four"}`+"\n"
	require.NoError(t, os.WriteFile(path, []byte(good+bad+"\n"+good+bad), 0o600))
	_, err := Load(path)
	require.ErrorIs(t, err, ErrAnswer)
	var e *dataset.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Bad, 2)
	assert.Equal(t, []int{2, 5}, []int{e.Bad[0].Line, e.Bad[1].Line})
	require.NoError(t, os.WriteFile(path, []byte(good+good), 0o600))
	d, err := Load(path, dataset.Limit(1))
	require.NoError(t, err)
	assert.Equal(t, "gsm8k-0001", d.At(0).ID)
	d, err = dataset.Load(path, dataset.Decode(Decode))
	require.NoError(t, err)
	assert.Equal(t, "2", d.At(1).ID, "Decode alone leaves the numbering to the loader")
}

// FuzzDecode: no row panics, and a target is an integer in canonical form that
// decodes to itself.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"question":"q","answer":"2+2=<<2+2=4>>4\n#### 4"}`, `{"question":"q","answer":"#### -1,450,000"}`,
		`{"id":7,"question":"q","answer":"####"}`, `{"id":"","question":1}`, `[]`, `null`, ``, `{"question":"q","answer":"#### 1,,2"}`,
	} {
		f.Add([]byte(s))
	}
	canonical := regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	f.Fuzz(func(t *testing.T, row []byte) {
		item, err := Decode(row)
		if err != nil {
			return
		}
		if !canonical.MatchString(item.Target) || item.Input == "" {
			t.Fatalf("%q became %+v", row, item)
		}
		if again, err := Final(marker + " " + item.Target); err != nil || again != item.Target {
			t.Fatalf("%s became %s, %v", item.Target, again, err)
		}
	})
}
