package result_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// sameAsLibrary holds the encoder of our own to the library's.
func sameAsLibrary(t *testing.T, rec *result.Record) {
	t.Helper()
	want, wantErr := result.MarshalRecord(rec)
	got, err := result.AppendRecord([]byte("before "), rec)
	require.Equal(t, wantErr != nil, err != nil, "library: %v, own: %v", wantErr, err)
	if err == nil {
		require.Equal(t, "before "+string(want), string(got))
	}
}

// leaves calls f with every settable value below v that holds no others, once
// v is filled.
func leaves(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		leaves(v.Elem(), path, f)
		f(path, v)
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Struct {
				leaves(v.Index(i), path+"[]", f)
			}
		}
		f(path, v)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			f(path, v)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue
			}
			leaves(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
		f(path, v)
	default:
		f(path, v)
	}
}

// TestAppendRecord: with every field set, and with each in turn left out, the
// line is the library's. A field that is added to a record and forgotten by
// the encoder fails here.
func TestAppendRecord(t *testing.T) {
	for _, text := range []string{"a", "", "\x00\x1f\x7f\b\f\n\r\t\"\\/<>&\u2028\u2029é\U0001F95A\uFFFD", "\xff", "\xed\xa0\x80"} {
		var rec result.Record
		fill(reflect.ValueOf(&rec).Elem(), text)
		sameAsLibrary(t, &rec)
	}
	var rec result.Record
	fill(reflect.ValueOf(&rec).Elem(), "text")
	n := 0
	leaves(reflect.ValueOf(&rec).Elem(), "", func(path string, v reflect.Value) {
		n++
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.SetZero()
		sameAsLibrary(t, &rec)
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			sameAsLibrary(t, &rec)
		}
		v.Set(was)
	})
	assert.Greater(t, n, 150, "fields left out")
}

func TestAppendRecordValues(t *testing.T) {
	east := time.FixedZone("east", 5*3600+1800)
	tests := []struct {
		name, reason string
		change       func(*result.Record)
	}{
		{"half a score", "scores are not only 0 and 1", func(r *result.Record) { r.Score = 0.5 }},
		{"a third", "shortest digits", func(r *result.Record) { r.Score = 1.0 / 3 }},
		{"tiny", "an exponent", func(r *result.Record) { r.Score = 1e-9 }},
		{"minus zero", "its sign is kept", func(r *result.Record) { r.Score = math.Copysign(0, -1) }},
		{"nearly one", "a conversion to int cuts", func(r *result.Record) { r.Score = math.Nextafter(1, 2) }},
		{"NaN", "refused", func(r *result.Record) { r.Score = math.NaN() }},
		{"infinite", "refused", func(r *result.Record) { r.Verdict = &grade.Verdict{Score: math.Inf(1)} }},
		{"local time", "a client's clock has a zone", func(r *result.Record) { r.Start = start.In(east) }},
		{"this machine's time", "", func(r *result.Record) { r.Start = start.Local() }},
		{"west", "a minus sign", func(r *result.Record) { r.Start = start.In(time.FixedZone("west", -3*3600-1800)) }},
		{"zone of seconds", "cut, as the library cuts it", func(r *result.Record) { r.Start = start.In(time.FixedZone("LMT", 1172)) }},
		{"zone under a minute west", "cut to -00:00 or +00:00, as the library has it", func(r *result.Record) { r.Start = start.In(time.FixedZone("x", -30)) }},
		{"widest zones", "the last that RFC 3339 has", func(r *result.Record) {
			r.Start, r.Response.Timing.Start = start.In(time.FixedZone("x", 86399)), start.In(time.FixedZone("x", -86399))
		}},
		{"zone of a day", "refused", func(r *result.Record) { r.Start = start.In(time.FixedZone("x", 86400)) }},
		{"zone of a day west", "refused", func(r *result.Record) { r.Start = start.In(time.FixedZone("x", -86400)) }},
		{"zone of a hundred hours", "refused", func(r *result.Record) { r.Start = start.In(time.FixedZone("x", -100*3600)) }},
		{"year 9999 in its zone only", "the zone's year counts", func(r *result.Record) {
			r.Start = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).In(time.FixedZone("x", -3600))
		}},
		{"year 10000 in its zone only", "refused", func(r *result.Record) { r.Start = time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC).In(east) }},
		{"whole second", "no fraction", func(r *result.Record) { r.Start = start.Truncate(time.Second) }},
		{"nanoseconds", "nine digits", func(r *result.Record) { r.Start = start.Add(1) }},
		{"year 10000", "refused", func(r *result.Record) { r.Start = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"year -1", "refused", func(r *result.Record) { r.Start = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"zero time elsewhere", "zero whatever its zone", func(r *result.Record) {
			r.Response = &llm.Response{Timing: llm.Timing{Start: time.Time{}.In(east)}}
		}},
		{"negative numbers", "a clock that went back", func(r *result.Record) { r.Duration, r.Sample = -1, -1 }},
		{"row with spaces", "compacted", func(r *result.Record) {
			r.Item.Row = json.RawMessage(" {\n\"a\" : [1, 2.50, 1e400] , \"a\":\"\\u00e9\\/\"} ")
		}},
		{"row of text", "any JSON is a row", func(r *result.Record) { r.Item.Row = json.RawMessage(`"{"`) }},
		{"row is not JSON", "refused, and then lifted", func(r *result.Record) { r.Item.Row = json.RawMessage(`{"a":`) }},
		{"row of two values", "refused, and then lifted", func(r *result.Record) { r.Item.Row = json.RawMessage(`1 2`) }},
		{"row of spaces", "refused, and then lifted", func(r *result.Record) { r.Item.Row = json.RawMessage(" ") }},
		{"row is not UTF-8", "refused, and then lifted", func(r *result.Record) { r.Item.Row = json.RawMessage("\"\xff\"") }},
		{"id ends in a brace", "fields after it still need a comma", func(r *result.Record) { r.Item.ID = "{" }},
		{"nothing", "the zero record", func(r *result.Record) { *r = result.Record{} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := record(1)
			tt.change(&rec)
			sameAsLibrary(t, &rec)
		})
	}
}

// FuzzAppendRecord: texts, rows and numbers come from anywhere.
func FuzzAppendRecord(f *testing.F) {
	f.Add("plain", []byte(`{"a":1}`), 1.0, int64(0), int64(0))
	f.Add("\xff\u2028\"\\\x01", []byte("\"\xff\""), 0.1, int64(-1), int64(math.MaxInt64))
	f.Add("{", []byte("[ 1 ]"), 1e21, int64(math.MinInt64), int64(1e18))
	f.Fuzz(func(t *testing.T, text string, row []byte, score float64, n, nanos int64) {
		rec := record(1)
		rec.Item.ID, rec.Item.Row, rec.Item.Choices = text, row, []string{text, text}
		rec.Response.Text, rec.Response.Usage.Input = text, n
		rec.Score, rec.Start, rec.Duration = score, time.Unix(0, nanos).UTC(), time.Duration(n)
		rec.Error = &result.Error{Message: text}
		sameAsLibrary(t, &rec)
	})
}

// BenchmarkAppendRecord compares the two.
func BenchmarkAppendRecord(b *testing.B) {
	rec := record(1)
	b.Run("own", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = result.AppendRecord(buf[:0], &rec)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := result.MarshalRecord(&rec); err != nil {
				b.Fatal(err)
			}
		}
	})
}
