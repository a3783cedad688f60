package gsm8k

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/goevals/evals/dataset"
)

// What the test split is and where it comes from. Nothing else is accepted as
// the test split, whatever it was fetched from.
const (
	// Commit of openai/grade-school-math.
	Commit = "3101c7d5072418e28b9008a6636bde82a006892c"
	// TestURL is the split in the public repository at that commit.
	TestURL = "https://raw.githubusercontent.com/openai/grade-school-math/" + Commit + "/grade_school_math/data/test.jsonl"
	// TestBytes and TestSHA256 are those of the uncompressed file.
	TestBytes  = 749_738
	TestSHA256 = "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14"
	// TestItems is the number of problems.
	TestItems = 1319
)

// fetchTimeout bounds a download of less than a megabyte.
const fetchTimeout = 5 * time.Minute

// ErrMismatch: what was fetched, or what lies in the cache folder, is not the
// test split.
var ErrMismatch = errors.New("not the pinned test split")

// A FetchError is why [Fetch] could not provide the file. Its text says which
// file to put where instead.
type FetchError struct {
	URL  string // what was asked
	Path string // where the file should lie; "" if there is no folder for it
	Err  error

	pin pin
}

// Error says what failed and how to do without the network.
func (e *FetchError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("gsm8k: %v; set FetchOptions.Dir to a folder that can be written", e.Err)
	}
	return fmt.Sprintf("gsm8k: cannot fetch the test split: %v\nWithout a network, save %s (%d bytes, SHA-256 %s) as %s",
		e.Err, e.URL, e.pin.bytes, e.pin.sha256, e.Path)
}

// Unwrap returns e.Err.
func (e *FetchError) Unwrap() error { return e.Err }

// FetchOptions change where [Fetch] looks. The zero value is right for most.
type FetchOptions struct {
	// Dir is the folder the file is kept in. Default: goevals/datasets/gsm8k
	// in the user's cache folder.
	Dir string
	// URL is a mirror. Default: TestURL. What it serves is checked all the
	// same.
	URL string
	// Client makes the request. Default: a client of its own with the
	// proxies of the environment. The whole download may take five minutes.
	Client *http.Client
}

// A pin is what a file must be.
type pin struct {
	bytes  int64
	sha256 string
	items  int
}

var testPin = pin{bytes: TestBytes, sha256: TestSHA256, items: TestItems}

// Fetch returns the path of the test split, a JSONL file for [Load]. A file
// that lies in the folder already is used without asking the network, plain or
// compressed, if it is the right one by hash. Otherwise it is downloaded into
// a temporary file, checked for its size, hash and number of items, and
// renamed: a path that was returned never names a partial file. Safe for
// concurrent use, from several processes too.
//
// Errors are of type [*FetchError].
func Fetch(ctx context.Context, opts FetchOptions) (string, error) {
	return fetch(ctx, opts, testPin)
}

func fetch(ctx context.Context, opts FetchOptions, want pin) (string, error) {
	if opts.URL == "" {
		opts.URL = TestURL
	}
	if opts.Client == nil {
		opts.Client = &http.Client{}
	}
	if opts.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", &FetchError{URL: opts.URL, Err: fmt.Errorf("no cache folder: %w", err), pin: want}
		}
		opts.Dir = filepath.Join(cache, "goevals", "datasets", "gsm8k")
	}
	path := filepath.Join(opts.Dir, "test-"+want.sha256[:12]+".jsonl")
	have := want.check(path)
	if have == nil {
		return path, nil
	}
	err := download(ctx, opts, path, want)
	if err == nil {
		return path, nil
	}
	if want.check(path) == nil { // somebody else was faster
		return path, nil
	}
	if !errors.Is(have, os.ErrNotExist) {
		err = fmt.Errorf("%w (and the file that lies there cannot be used: %w)", err, have)
	}
	return "", &FetchError{URL: opts.URL, Path: path, Err: err, pin: want}
}

// check reports whether the file at path is the one wanted.
func (p pin) check(path string) error {
	ds, err := Load(path)
	if err != nil {
		return err
	}
	if ds.SHA256() != p.sha256 {
		return fmt.Errorf("%w: SHA-256 %s, want %s", ErrMismatch, ds.SHA256(), p.sha256)
	}
	if ds.Len() != p.items {
		return fmt.Errorf("%w: %d items, want %d", ErrMismatch, ds.Len(), p.items)
	}
	return nil
}

func download(ctx context.Context, opts FetchOptions, path string, want pin) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, opts.URL, nil)
	if err != nil {
		return err
	}
	resp, err := opts.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	if err := os.MkdirAll(opts.Dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(opts.Dir, ".test-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	err = receive(f, resp.Body, want)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = want.check(f.Name())
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// receive writes the body and checks its size and hash. It never writes much
// more than the size that is wanted.
func receive(f io.Writer, body io.Reader, want pin) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, want.bytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("after %d of %d bytes: %w", n, want.bytes, err)
	case n > want.bytes:
		return fmt.Errorf("%w: more than %d bytes", ErrMismatch, want.bytes)
	case n < want.bytes:
		return fmt.Errorf("%w: %d bytes, want %d", ErrMismatch, n, want.bytes)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.sha256 {
		return fmt.Errorf("%w: SHA-256 %s, want %s", ErrMismatch, got, want.sha256)
	}
	return nil
}

// Test fetches the test split, if need be, and loads it.
func Test(ctx context.Context, opts FetchOptions, load ...dataset.Option) (*dataset.Dataset, error) {
	path, err := Fetch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return Load(path, load...)
}
