package jsonlist_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/internal/jsonlist"
)

type element struct {
	A int
	B []int
	C string
}

func TestList(t *testing.T) {
	many := func(n int, e string) string { return "[" + strings.Repeat(e+",", n-1) + e + "]" }
	rows := []struct {
		name, reason, in string
		want             int // elements; -1 for an error
	}{
		{"empty", "a list of none is one", `[]`, 0},
		{"null", "none", `null`, 0},
		{"no array", "an odd type spoils itself only", `{"A":1}`, 0},
		{"two", "the usual list stays", `[{"A":1},{"A":2}]`, 2},
		{"odd field", "as in any struct", `[{"A":"x","C":"c"},{}]`, 2},
		{"most", "the bound itself is allowed", many(jsonlist.Max, "{}"), jsonlist.Max},
		{"one too many", "one more is not", many(jsonlist.Max+1, "{}"), -1},
		{"numbers", "two bytes an element", many(jsonlist.Max+1, "1"), -1},
		{"commas inside", "of strings, objects and lists are none of the list's", many(3, `{"B":[`+strings.Repeat("1,", 20_000)+`1],"C":"\\\"`+strings.Repeat(",", 20_000)+`"}`), 3},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var v struct {
				List jsonlist.List[element]
				Next int
			}
			err := json.Unmarshal([]byte(`{"List":`+r.in+`,"Next":7}`), &v)
			if r.want < 0 {
				require.ErrorIs(t, err, jsonlist.ErrTooLong, r.reason)
				return
			}
			require.NoError(t, err, r.reason)
			assert.Len(t, v.List, r.want, r.reason)
			assert.Equal(t, 7, v.Next, "what follows is read")
		})
	}
}
