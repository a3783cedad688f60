package result

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// ErrNoJournal is wrapped by what [Latest] and [LatestUnder] return where there
// is no journal.
var ErrNoJournal = errors.New("result: no journal")

const (
	// pointer is the file that names a folder's latest journal. No folder that
	// Dir makes begins with "_", so the names cannot meet.
	pointer   = "_latest"
	extension = ".jsonl"
	maxName   = 60 // bytes of a folder's name, for Windows' 260 a path
)

// DefaultDir returns the folder under which journals lie by default:
// goevals/journals in the user's cache folder. It lies outside every module,
// or go test would not cache a replayed run. The error says what to set.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("result: no folder for journals: %w: choose one with -evaltest.dir or EVALTEST_DIR", err)
	}
	return filepath.Join(dir, "goevals", "journals"), nil
}

// Dir returns the folder of one test's journals under root. pkg is an import
// path, test the test's full name. Different arguments give different folders,
// also where file names ignore case; names are safe on all systems.
func Dir(root, module, pkg, test string) string {
	rel, ok := strings.CutPrefix(pkg, module)
	if rel != "" {
		rel, ok = strings.CutPrefix(rel, "/")
	}
	switch {
	case !ok:
		rel = "/" + pkg // outside the module: no relative path begins so
		fallthrough
	case rel != "":
		rel = folder(rel)
	default:
		rel = "_" // the module's own root; folder never returns that
	}
	return filepath.Join(root, folder(module), rel, folder(test))
}

// folder returns name if it is short, lower case and plain, else what can be
// read of it, "~", and a hash of it. A plain name holds no "~", so the two
// kinds cannot meet.
func folder(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte('-')
		}
	}
	slug := b.String()
	if slug == name && len(name) <= maxName && !awkward(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10])) // 80 bits: 16 letters
	slug = strings.ReplaceAll(slug, ".", "-")                            // "com1.txt~…" would be a device on Windows
	return strings.Trim(slug[:min(len(slug), maxName-17)], "-_") + "~" + hash
}

// awkward reports names that some system treats in a way of its own.
func awkward(name string) bool {
	if strings.Trim(name, "-_.") != name || name == "" {
		return true // hidden, an option, "..", or a dot that Windows drops
	}
	base, _, _ := strings.Cut(name, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	n, isPort := strings.CutPrefix(base, "com")
	if !isPort {
		n, isPort = strings.CutPrefix(base, "lpt")
	}
	return isPort && len(n) == 1
}

// journalName is what the names that NewPath gives look like.
var journalName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{6}-[0-9a-f]+\.jsonl(\.gz)?$`)

// NewPath returns a path for a new journal in dir: its time in UTC, so that
// names sort by age, and a random part, so that no two are alike, whatever
// -count, -cpu and other processes do. It creates nothing.
func NewPath(dir string, now time.Time) string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	name := now.UTC().Format("20060102T150405.000000") + "-" + hex.EncodeToString(random[:])
	return filepath.Join(dir, name+extension)
}

// SetLatest makes path the latest journal of dir. path should lie in dir; it is
// kept by name, so the folder may be moved.
func SetLatest(dir, path string) error {
	name := plainPath(path)
	if rel, err := filepath.Rel(dir, name); err == nil {
		name = filepath.ToSlash(rel)
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = replace(filepath.Join(dir, pointer), func(w io.Writer) error {
			_, err := io.WriteString(w, name+"\n")
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("result: remember the latest journal: %w", err)
	}
	return nil
}

// Latest returns the latest journal of dir: the one that SetLatest named, or,
// if that is gone, the newest by name of those that [NewPath] named.
// [ErrNoJournal] if there is none.
func Latest(dir string) (string, error) {
	if name, err := os.ReadFile(filepath.Join(dir, pointer)); err == nil {
		path := filepath.FromSlash(strings.TrimSuffix(string(name), "\n"))
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if p, ok := present(path); ok {
			return p, nil
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("result: look for the latest journal: %w", err)
	}
	newest := ""
	for _, e := range entries {
		if isJournal(e.Name()) && plainPath(e.Name()) >= newest {
			newest = plainPath(e.Name())
		}
	}
	if p, ok := present(filepath.Join(dir, newest)); ok && newest != "" {
		return p, nil
	}
	return "", fmt.Errorf("%w in %s: run a test first", ErrNoJournal, dir)
}

// LatestUnder returns the latest journal of all folders under root, of those
// that [NewPath] named: other names hold no time that could be compared.
// Folders that cannot be read are passed over. [ErrNoJournal] if there is none.
func LatestUnder(root string) (string, error) {
	newest := ""
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil || !d.IsDir():
			return nil
		}
		p, err := Latest(path)
		if err == nil && isJournal(filepath.Base(p)) && (newest == "" || filepath.Base(plainPath(p)) > filepath.Base(plainPath(newest))) {
			newest = p
		}
		return nil
	})
	if newest == "" {
		return "", fmt.Errorf("%w under %s: run a test first", ErrNoJournal, root)
	}
	return newest, nil
}

// isJournal reports whether a file is a journal, by its name. Files of other
// kinds lie below the same root, such as a bake-off's *_results.jsonl.gz, and
// beside journals, such as the items that broke.
func isJournal(name string) bool { return journalName.MatchString(name) }

// present returns the form in which the journal lies there.
func present(plain string) (string, bool) {
	plain = plainPath(plain)
	for _, p := range []string{plain, plain + ".gz"} {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() {
			return p, true
		}
	}
	return "", false
}
