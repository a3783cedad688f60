package judge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Store keeps a judge's verdicts by key, for [Cache]. Both methods must be
// safe for concurrent use. Keys are 64 hexadecimal digits.
type Store interface {
	// Load returns what was stored under key, or nil if nothing was.
	Load(key string) ([]byte, error)
	// Store keeps data under key, whole or not at all, and replaces what stood
	// there.
	Store(key string, data []byte) error
}

// Dir returns a [Store] of files in a folder, which is made when the first
// verdict is kept. A process may be killed at any time: a file is there whole or
// not at all, and one called .new-… may be left, which nobody reads and anybody
// may delete. Several processes may share the folder. It panics if path is
// empty.
func Dir(path string) Store {
	if path == "" {
		panic("judge.Dir: the path is empty; name a folder, such as testdata/judge")
	}
	return dir(path)
}

// dir names a file after its key, in a folder of the key's first two digits.
type dir string

var _ Store = dir("")

// mostBytes is the size from which a file is none of ours.
const mostBytes = 1 << 20

func (d dir) path(key string) (string, error) {
	if len(key) != 64 {
		return "", fmt.Errorf("judge.Dir: key %.100q is not of 64 hexadecimal digits", key)
	}
	for i := range len(key) {
		if c := key[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("judge.Dir: key %.100q is not of 64 hexadecimal digits", key)
		}
	}
	return filepath.Join(string(d), key[:2], key+".json"), nil
}

func (d dir) Load(key string) ([]byte, error) {
	path, err := d.path(key)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe would be waited for
		return nil, fmt.Errorf("%s is no file", path)
	case info.Size() > mostBytes:
		return nil, fmt.Errorf("%s has %d bytes, more than any verdict's %d", path, info.Size(), mostBytes)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

func (d dir) Store(key string, data []byte) (err error) {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	if len(data) > mostBytes {
		return fmt.Errorf("judge.Dir: a verdict of %d bytes; the most is %d", len(data), mostBytes)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
