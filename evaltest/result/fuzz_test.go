package result_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goevals/evals/evaltest/result"
)

// FuzzRead: whatever is in a file, reading it ends, without a panic, in
// records or an error; and what can be read can be resumed to the same records.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.jsonl")
	w, err := result.Create(path, header())
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		rec := record(i % 2)
		rec.Response.Text += "\xff"
		if err := w.Write(&rec); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(result.End{Complete: true}); err != nil {
		f.Fatal(err)
	}
	packed, err := os.ReadFile(path + ".gz")
	if err != nil {
		f.Fatal(err)
	}
	head := "{\"format\":\"evals.journal/1\",\"samples\":1}\n"
	one := `{"item":{"id":"a"},"outcome":"correct","score":1}` + "\n"
	for _, seed := range []string{
		string(packed), string(packed[:len(packed)-9]), "", "\n", "{}", head, head[:20], head + one, head + one + one[:30], head + one[:30] + "\n" + one,
		head + `{"end":{"complete":true}}` + "\n" + one, head + "\x00\x00\x00\n", "{\"format\":\"evals.journal/9\"}\n",
		head + `{"item":{"id":"a"},"outcome":"correct","bytes":{"/item/id":"/w==","/nowhere":"AA=="}}` + "\n",
		head + `{"item":{"id":"a","row":1e999},"outcome":"x","attempts":[{}],"response":{}}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := result.NewReader("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		var keys []result.Key
		for rec, err := range r.All() {
			if err != nil {
				return
			}
			if rec.Item.ID == "" || rec.Outcome == "" {
				t.Fatalf("half a record: %+v", rec)
			}
			keys = append(keys, rec.Key())
		}
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			return
		}
		path := filepath.Join(t.TempDir(), "run.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		w, before, err := result.Append(path)
		if err != nil {
			t.Fatalf("Open reads it, Append does not: %v", err)
		}
		more := record(77)
		if err := w.Write(&more); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		after, err := result.Read(path)
		if err != nil {
			t.Fatalf("Append left a file that cannot be read: %v", err)
		}
		if len(after.Warnings) > 0 {
			t.Fatalf("Append did not repair: %v", after.Warnings)
		}
		want := append(before.Records, more)
		if before.Find(more.Key()) != nil {
			return
		}
		if diff := cmp.Diff(want, after.Records, same); diff != "" {
			t.Fatalf("after %v: resumed mismatch (-want +got):\n%s", keys, diff)
		}
	})
}

// FuzzText: no text is altered.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "18", "\xff", "\xed\xa0\x80", "\u2028\x00\x16", `\ufffd`, "\uFFFD\xfe", "{\"end\":{}}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		w := write(t, path, 0)
		rec := record(0)
		rec.Response.Text, rec.Verdict.Answer, rec.Attempts[0].Text = text, text, text
		rec.Item.Row = []byte(text)
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		got := read(t, path).Records[0]
		if got.Response.Text != text || got.Verdict.Answer != text || got.Attempts[0].Text != text {
			t.Fatalf("wrote %q, read %q, %q, %q", text, got.Response.Text, got.Verdict.Answer, got.Attempts[0].Text)
		}
	})
}
