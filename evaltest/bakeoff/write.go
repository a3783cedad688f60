package bakeoff

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/goevals/evals/evaltest/result"
)

// WriteJSON writes v to path as indented JSON. The file is there whole, or as
// it was before.
func WriteJSON(path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("bakeoff: %s: %w", path, err)
	}
	return replace(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

// WriteItems writes a line of JSON for each record, in their order, compressed,
// to NAME_results.jsonl.gz in dir, and returns its path. In the name, what is
// no letter, digit, - or . becomes _.
func WriteItems(dir string, c Contestant, records iter.Seq2[result.Record, error]) (string, error) {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-.", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, c.Name)
	path := filepath.Join(dir, name+"_results.jsonl.gz")
	return path, replace(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		enc := json.NewEncoder(z)
		enc.SetEscapeHTML(false)
		for r, err := range records {
			if err == nil {
				err = enc.Encode(ItemOf(c, &r))
			}
			if err != nil {
				return fmt.Errorf("bakeoff: %s: %w", path, err)
			}
		}
		return z.Close()
	})
}

// replace writes a file beside path and renames it, so that nobody ever reads
// half of one.
func replace(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("bakeoff: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("bakeoff: %w", err)
	}
	defer os.Remove(f.Name()) // gone if it was renamed
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
