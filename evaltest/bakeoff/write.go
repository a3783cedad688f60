package bakeoff

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
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

// WriteItems writes a line of JSON for each record of a pass, in their order,
// compressed, to a file in dir, and returns its path: NAME_results.jsonl.gz for
// pass 0, NAME_results.1.jsonl.gz for the next. In the name, what is no letter,
// digit, - or . becomes _; a name that this changes, or that is long, ends in a
// hash of the whole, so that no two contestants share a file.
func WriteItems(dir string, c Contestant, pass int, records iter.Seq2[result.Record, error]) (string, error) {
	name := fileName(c.Name) + "_results"
	if pass > 0 {
		name += "." + strconv.Itoa(pass)
	}
	path := filepath.Join(dir, name+".jsonl.gz")
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

const longestName = 80 // bytes, without the hash

func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-.", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if safe == name && len(name) <= longestName && !strings.HasPrefix(name, ".") {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%.*s~%x", longestName, strings.TrimLeft(safe, "."), hash[:4])
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
