package workload

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadLengths(t *testing.T) {
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write([]byte(`{"n":5}`))
	require.NoError(t, g.Close())
	for _, row := range []struct {
		name, reason    string
		content, column string
		want            []int
	}{
		{"numbers", "one column needs no name", "5\n\n7\r\n 9 \n", "", []int{5, 7, 9}},
		{"one column with a name", "a first line that is no number is one", "tokens\n5\n7\n", "", []int{5, 7}},
		{"by name", "never by place", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\nx, 396 ,109\n", "ContextTokens", []int{374, 396}},
		{"byte order mark", "as spreadsheets write it", "\ufefftokens,b\n5,6\n", "tokens", []int{5}},
		{"quotes", "", "\"a,b\",\"n\"\n\"x\ny\",\"12\"\n", "n", []int{12}},
		{"one named column", "", "n\n12\n", "n", []int{12}},
		{"JSONL", "blank lines are skipped", "\n{\"n\":5,\"x\":{}}\n\n{\"n\":2147483647}\n", "n", []int{5, 2147483647}},
		{"gzip", "told by its first bytes", gz.String(), "n", []int{5}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := LoadLengths(file(t, "in", row.content), row.column)
			require.NoError(t, err, row.reason)
			assert.Equal(t, row.want, got, row.reason)
		})
	}
}

func TestLoadLengthsErrors(t *testing.T) {
	for _, row := range []struct {
		name, reason    string
		content, column string
		want            string
	}{
		{"zero", "a failed request of a trace", "n\n5\n0\n", "n", `in:3: bad row: the length is "0": want a whole number from 1 to 2147483647`},
		{"fraction", "", "5\n1.5\n", "", `in:2: bad row: the length is "1.5"`},
		{"fraction at first", "it is no name of a column", "1.5\n5\n", "", `in:1: bad row: the length is "1.5"`},
		{"huge at first", "nor is this", "1e999\n5\n", "", `in:1: bad row: the length is "1e999"`},
		{"sign", "", "n\n+5\n", "n", `in:2: bad row: the length is "+5"`},
		{"no column", "", "a,b\n1,2\n", "n", `in:1: bad row: no column is named "n"; the first line is "a,b"`},
		{"two columns", "", "n,n\n1,2\n", "n", `in:1: bad row: two columns are named "n"`},
		{"which column", "", "a,b\n1,2\n", "", `in:1: workload: column is missing: there are 2 columns`},
		{"short line", "the CSV reader counts the columns", "a,n\n1,2\n3\n", "n", `record on line 3: wrong number of fields`},
		{"open quote", "", "n\n\"5\n", "n", `extraneous or missing " in quoted-field`},
		{"only a head", "", "n\n", "n", `in: bad row: it has no lengths`},
		{"empty", "", "", "", `in: bad row: it has no lengths`},
		{"JSONL without a key", "", `{"a":1}`, "n", `in:1: bad row: bad row: it has no key "n"`},
		{"JSONL of text", "", `{"n":"5"}`, "n", `the length is "\"5\""`},
		{"JSONL which key", "", `{"n":5}`, "", `in has the lengths?`},
		{"JSON list", "", `[1,2]`, "", `in:1: workload: column is missing: there are 2 columns`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := ReadLengths(bytes.NewBufferString(row.content), "in", row.column)
			require.ErrorContains(t, err, row.want, row.reason)
		})
	}
	_, err := LoadLengths(file(t, "in", "")+"x", "")
	assert.ErrorIs(t, err, os.ErrNotExist)
}
