package evaltest

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// go test serves a passing package from its cache as long as the binary, the
// environment variables that it read and the files inside its module that it
// opened are the same. A model behind a URL is none of these. So a run is one
// of two kinds:
//
//   - replayed: its answers come from a cassette in strict replay, or from the
//     test's own code ([Offline]), and all its files lie inside the module.
//     go test may cache it, and notices a changed file by itself.
//   - live: everything else. Its result must not be kept.
//
// go test learns what a binary has read from a log, whose path it passes in
// -test.testlogfile. A log that does not begin as it should, or is cut in the
// middle of a line, is refused, and nothing is kept. With the flag emptied
// testing does not write the log's end. That alone leaves an empty file only
// as long as less than a buffer has been logged, so the log is also spoilt.
// Rejected: a file of the module written and read (go test only looks whether
// it is younger than 2 s when the binary ends), and deleting the log (fails on
// Windows).
//
// uncache must stay harmless where go test does not cache: then there is no
// log.
func uncache(set *flag.FlagSet) {
	f := set.Lookup("test.testlogfile")
	if f == nil || f.Value.String() == "" {
		return
	}
	path := f.Value.String()
	if set.Set(f.Name, "") != nil {
		return
	}
	spoil(path)
}

// spoil overwrites the first byte of the log. The log must be on disk for
// that, so it is made longer than any buffer first, by what it logs: reads of
// the environment.
func spoil(path string) {
	for i := range 64 {
		os.Getenv("EVALTEST_LIVE_RUN_IS_NOT_CACHED_" + strconv.Itoa(i) + strings.Repeat("_", 256))
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return // the emptied flag still holds
	}
	defer w.Close()
	w.WriteAt([]byte("!"), 0)
}

// moduleRoot returns the folder of the module around dir: the nearest one up
// that has a go.mod; "" if there is none.
func moduleRoot(dir string) string {
	for {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// tracked reports whether go test notices a change of the file at path: it
// lies inside the module of the test, whose package folder is the working
// folder. Where that cannot be told the answer is false, which is the safe one.
func tracked(path string) bool {
	wd, err := os.Getwd()
	if err != nil {
		return false
	}
	root := moduleRoot(wd)
	if root == "" {
		return false
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false
	}
	return inside(root, path)
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
