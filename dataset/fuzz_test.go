package dataset

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLoad: no input panics; what loads can be written and loads again as the
// same items; and what was checked at load does not fail later.
func FuzzLoad(f *testing.F) {
	for _, r := range refusals {
		if len(r.content) < 10_000 {
			f.Add([]byte(r.content))
		}
	}
	f.Add([]byte(gz(rows(3), rows(0))))
	f.Add([]byte(zst(rows(3))))
	f.Add([]byte(`{"input":["x"],"ideal":["a",1.50,true],"targets":["b"],"options":["a","1.50","true","b"],"group":7,"m":{"k":[null,1e400]}}`))
	f.Add([]byte(`{"id":7,"\u0070rompt":"\ud83d\ude00","expected":{"a":1},"choices":{"A":"{\"a\":1}"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := Read(bytes.NewReader(content), "fuzz", MaxLine(1<<16))
		if err != nil {
			if d != nil || err.Error() == "" {
				t.Fatalf("an error with a dataset, or without words: %v", err)
			}
			return
		}
		var out bytes.Buffer
		w := NewWriter(&out)
		for it := range d.All() {
			if err := w.Write(it); err != nil {
				t.Fatalf("item %q does not write: %v", it.ID, err)
			}
			var v map[string]json.RawMessage
			if err := it.Decode(&v); err != nil {
				t.Fatalf("item %q does not decode: %v", it.ID, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out, "again")
		if err != nil {
			t.Fatalf("what was written does not load: %v", err)
		}
		if again.Len() != d.Len() {
			t.Fatalf("%d items became %d", d.Len(), again.Len())
		}
		for i := range d.Len() {
			a, b := d.At(i), again.At(i)
			if !a.sameFields(b) {
				t.Fatalf("item %d: %+v became %+v", i, a, b)
			}
			ma, err := a.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			mb, err := b.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			ja, _ := json.Marshal(ma)
			jb, _ := json.Marshal(mb)
			if !bytes.Equal(ja, jb) {
				t.Fatalf("item %d: metadata %s became %s", i, ja, jb)
			}
		}
	})
}

// FuzzOverrides: no overrides file panics, and one that is accepted was
// applied and says why.
func FuzzOverrides(f *testing.F) {
	for _, s := range []string{
		`{"id":"r1","target":"x","reason":"y"}`, `{"id":"r2","skip":true,"reason":"y"}`,
		`{"id":"r3","target":[1,"b"],"targets":["c"],"reason":"y"}`, `{"id":"r3","target":[{}],"reason":"y"}`,
		`{"id":"r9"}`, `{"id":1,"skip":1}`, `[]`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		ov := &overrider{byID: map[string]*Override{}, met: map[string]bool{}}
		if err := ov.readFrom("overrides", strings.NewReader(content)); err != nil {
			return
		}
		c, _ := newConfig(nil)
		d, err := read(c, ov, "x", "", "x", strings.NewReader(rows(3)))
		if err != nil {
			return
		}
		if len(d.Overrides()) != len(ov.order) {
			t.Fatalf("%d overrides, %d applied", len(ov.order), len(d.Overrides()))
		}
		for _, o := range d.Overrides() {
			if o.Reason == "" || o.Was == "" {
				t.Fatalf("an override without reason or old target: %+v", o)
			}
		}
	})
}
