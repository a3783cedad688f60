package gsm8k

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	URL  string // what was asked, without user and query: they may hold a key
	Path string // where the file should lie; "" if there is no folder for it
	Err  error

	pin pin
}

// errFolder is wrapped by errors of the cache folder.
var errFolder = errors.New("cannot use the cache folder")

// Error says what failed and how to do without the network.
func (e *FetchError) Error() string {
	if errors.Is(e.Err, errFolder) {
		return fmt.Sprintf("gsm8k: %v\nSet FetchOptions.Dir to a folder that can be written, or save %s (%d bytes, SHA-256 %s) yourself and give its path to gsm8k.Load.",
			e.Err, e.URL, e.pin.bytes, e.pin.sha256)
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
	//
	// User and query of the URL are kept out of errors.
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
			return "", &FetchError{URL: shown(opts.URL), Err: fmt.Errorf("%w: there is none: %w", errFolder, err), pin: want}
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
	return "", &FetchError{URL: shown(opts.URL), Path: path, Err: err, pin: want}
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

// download puts the file at path. The folder is tried first: it stands ready
// then for whoever puts the file there by hand.
func download(ctx context.Context, opts FetchOptions, path string, want pin) error {
	if err := os.MkdirAll(opts.Dir, 0o777); err != nil {
		return fmt.Errorf("%w: %w", errFolder, err)
	}
	removeStale(opts.Dir)
	f, err := os.CreateTemp(opts.Dir, ".test-*.tmp")
	if err != nil {
		return fmt.Errorf("%w: %w", errFolder, err)
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	err = get(ctx, opts, f, want)
	if err == nil {
		_ = f.Chmod(0o644) // public data; where the cache is shared, others may read it
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
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("%w: %w", errFolder, err)
	}
	return nil
}

// removeStale removes what killed downloads have left. None lasts so long that
// a living one could be taken for dead.
func removeStale(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, ".test-*.tmp"))
	for _, name := range left {
		if st, err := os.Stat(name); err == nil && time.Since(st.ModTime()) > 2*fetchTimeout {
			os.Remove(name)
		}
	}
}

// get asks for the file and writes it to w.
func get(ctx context.Context, opts FetchOptions, w io.Writer, want pin) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, opts.URL, nil)
	if err != nil {
		return withoutURL(err)
	}
	resp, err := opts.Client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// Not resp.Status: its words are the server's.
		return fmt.Errorf("the server answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return receive(w, resp.Body, want)
}

// withoutURL drops the URL from an error of net/http.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// shown is a URL as it may stand in an error.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the URL"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String()
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

// LoadTestSplit fetches the test split, if need be, and loads it. Its errors are
// those of [Fetch] and [Load].
func LoadTestSplit(ctx context.Context, opts FetchOptions, load ...dataset.Option) (*dataset.Dataset, error) {
	path, err := Fetch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return Load(path, load...)
}
