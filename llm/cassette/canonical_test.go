package cassette

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	rows := []struct{ name, reason, a, b, want string }{
		{"key order", "an object has none", `{"b":1,"a":2}`, `{"a":2,"b":1}`, `{"a":2,"b":1}`},
		{"white space", "servers and SDKs indent differently", "{ \"a\" :\n[ 1 , 2 ] }", `{"a":[1,2]}`, `{"a":[1,2]}`},
		{"escapes", "SDKs escape HTML characters or not", `"\u003cb\u003e \/ \u00e9"`, `"<b> / é"`, `"<b> / é"`},
		{"1.0", "one number", `1.0`, `1`, `1`},
		{"1e2", "one number", `1e2`, `100.0`, `100`},
		{"0.10", "one number", `0.10`, `1.0E-1`, `0.1`},
		{"-0", "zero has no sign", `-0.0`, `0e5`, `0`},
		{"small", "an exponent and its digits are one number", `0.00000000000000000000001`, `1e-23`, `1e-23`},
		{"large", "an exponent and its digits are one number", `1e300`, `10e299`, `1e300`},
		{"duplicate key", "the last one counts, as for servers in Go", `{"a":1,"a":2}`, `{"a":2}`, `{"a":2}`},
		{"surrogates", "one character", `"\ud83d\ude00"`, `"😀"`, `"😀"`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			a, ok := canonical([]byte(r.a), nil)
			require.True(t, ok)
			b, ok := canonical([]byte(r.b), nil)
			require.True(t, ok)
			assert.Equal(t, r.want, string(a), r.reason)
			assert.Equal(t, string(a), string(b), r.reason)
		})
	}
	differ := [][2]string{
		{`1`, `"1"`}, {`null`, `{}`}, {`[1,2]`, `[2,1]`}, {`0.1`, `0.10000000000000001`},
		{`9007199254740993`, `9007199254740992`}, {`{"a":null}`, `{}`}, {`" a"`, `"a"`}, {`1e999999999999`, `1e999999999998`},
	}
	for _, d := range differ {
		a, _ := canonical([]byte(d[0]), nil)
		b, _ := canonical([]byte(d[1]), nil)
		assert.NotEqual(t, string(a), string(b), "%v are two values", d)
	}
	for _, bad := range []string{``, `{`, `1 2`, `{"a":1}x`, "\"\xff\"", `nul`} {
		_, ok := canonical([]byte(bad), nil)
		assert.False(t, ok, "%q is no JSON text", bad)
	}
}

func TestCanonicalIgnores(t *testing.T) {
	in := `{"user":"u1","metadata":{"request_id":"x","keep":1},"messages":[{"id":1,"content":"a"},{"id":2,"content":"b"}]}`
	got, ok := canonical([]byte(in), [][]string{{"user"}, {"metadata", "request_id"}, {"messages", "*", "id"}, {"absent", "deep"}})
	require.True(t, ok)
	assert.Equal(t, `{"messages":[{"content":"a"},{"content":"b"}],"metadata":{"keep":1}}`, string(got))
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1.50e1,"a":["\u003c",null,true,-0.0]}`, `1e2147483647`, `1e99999999999999999999`, `"\ud800"`, `[[[[]]]]`, `{"":{"":0}}`, `0.000e-5`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := canonical(b, nil)
		if !ok {
			return
		}
		if !json.Valid(c) {
			t.Fatalf("%q becomes %q, which is not JSON", b, c)
		}
		again, ok := canonical(c, nil)
		if !ok || !bytes.Equal(c, again) {
			t.Fatalf("%q becomes %q, and that %q", b, c, again)
		}
		var indented bytes.Buffer
		if json.Indent(&indented, b, "\n", "\t ") == nil {
			other, ok := canonical(indented.Bytes(), nil)
			if !ok || !bytes.Equal(c, other) {
				t.Fatalf("%q and its indented form differ: %q, %q", b, c, other)
			}
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1.50", "15e-1", "100", "1e2", "123456789012345678901234567890", "0.1", "1E+3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 60 || !json.Valid([]byte(s)) || len(s) == 0 || !(s[0] == '-' || s[0] >= '0' && s[0] <= '9') {
			return
		}
		got := number(s)
		a, ok := new(big.Float).SetPrec(400).SetString(s)
		b, ok2 := new(big.Float).SetPrec(400).SetString(got)
		if !ok || !ok2 {
			t.Skip("beyond math/big")
		}
		if a.Cmp(b) != 0 && len(s) < 40 && a.MantExp(nil) > -100 && a.MantExp(nil) < 100 {
			t.Errorf("%s became %s", s, got)
		}
	})
}
