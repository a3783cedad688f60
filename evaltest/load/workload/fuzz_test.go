package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that is taken is a prompt or a body, never both, and what is sent of
// it is valid JSON that says what the line said.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a","input_tokens":5}`, `{"body":{"a":[1,2]}}`, `{"messages":[],"line_idx":3,"input_tokens":1}`,
		`{"prompt":"\ud83d\ude00","z":{"input_tokens":1}}`, `{"text":null}`, `{`, `[]`, `{"a":1}{"text":"b"}`, `{"text":"a","text":"b"}`, "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rows, err := Read(strings.NewReader(line), "in", RowsOptions{})
		if err != nil {
			require.Nil(t, rows)
			return
		}
		for i := range rows.Len() {
			r, err := rows.Request(i)
			require.NoError(t, err)
			require.NotEqual(t, r.Prompt == "", r.Body == nil)
			require.GreaterOrEqual(t, r.AskedInput, 0)
			if r.Body == nil {
				continue
			}
			var sent, was map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(r.Body, &sent))
			if rows.Len() > 1 {
				continue
			}
			require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "\ufeff")), &was))
			if was[keyBody] == nil {
				delete(was, keyTokens)
				delete(was, keyLine)
				require.Equal(t, was, sent)
			}
		}
	})
}

func FuzzLengths(f *testing.F) {
	for _, seed := range []string{"5\n7", "n\n5", "a,n\n1,2", `{"n":5}`, "\ufeffn\n\"5\"", "1e9", `{"n":-1}`, "(", "\x1f\x8b"} {
		f.Add(seed, "n")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, content, column string) {
		values, err := ReadLengths(strings.NewReader(content), "in", column)
		if err != nil {
			require.Nil(t, values)
			return
		}
		_, err = Empirical(values)
		require.NoError(t, err)
	})
}

// Settings never give a distribution that draws outside its limits.
func FuzzSettings(f *testing.F) {
	f.Add(5, 10, 0.0, 100.0, .9, 40, uint8(0))
	f.Add(0, 0, 700.0, 1e300, 1e-300, 1, uint8(0xff))
	f.Add(1, -1, -1e308, 5e-324, 1e308, -1, uint8(0x3c))
	f.Fuzz(func(t *testing.T, n, vary int, mu, median, sigma float64, max int, given uint8) {
		s := Settings{Names: FlagNames("input"), ZeroIsNone: given&64 != 0}
		for bit, set := range []func(){
			func() { s.Fixed = &n }, func() { s.Vary = &vary }, func() { s.Mu = &mu },
			func() { s.Median = &median }, func() { s.Sigma = &sigma }, func() { s.Max = &max },
		} {
			if given>>bit&1 != 0 {
				set()
			}
		}
		d, err := s.Dist()
		if err != nil {
			require.ErrorIs(t, err, ErrOption)
			require.Contains(t, err.Error(), "--input-")
			return
		}
		_, err = json.Marshal(d) // fails on NaN and infinity
		require.NoError(t, err)
		if d.IsZero() {
			return
		}
		r := Rand(1, 2, InputLength)
		for range 20 {
			got := d.Draw(r)
			require.GreaterOrEqual(t, got, 1)
			require.LessOrEqual(t, got, d.top())
		}
		require.GreaterOrEqual(t, d.Mean(), 1.0-1e-9)
		require.LessOrEqual(t, d.Mean(), float64(d.top()))
		require.GreaterOrEqual(t, d.AtCap(), 0.0)
		require.LessOrEqual(t, d.AtCap(), 1.0)
	})
}
