package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goevals/evals/evaltest/load/metric"
)

// A namedFile is a file and the flag that names it; the path is empty if nobody
// gave the flag.
type namedFile struct{ flag, path string }

// files are those that a run writes.
func (o *outputFlags) files() []namedFile {
	return []namedFile{{"results-csv", o.csv}, {"json", o.json}, {"requests-jsonl", o.requests}, {"bench", o.bench}}
}

// check refuses, before any file is opened, one that would overwrite another:
// inputs are those that are read, more those that are written besides o's own. Two flags may read one file.
//
// It refuses "-" as well, of which a file would be made, and a benchmark's name
// that would be refused when the run is over.
func (o *outputFlags) check(inputs []namedFile, more ...namedFile) error {
	if err := metric.CheckBenchName(o.benchName); err != nil {
		return usagef("-bench-name: %s", reason(err))
	}
	seen := slices.DeleteFunc(slices.Clone(inputs), namedFile.harmless)
	for _, x := range append(o.files(), more...) {
		if x.path == "-" {
			return usagef("-%s is %q: want a file; standard output has the summary, or the lines of a dry run", x.flag, x.path)
		}
		if x.harmless() {
			continue
		}
		for _, other := range seen {
			if x.same(other) {
				return usagef("-%s and -%s are both %q: each needs a file of its own", other.flag, x.flag, x.path)
			}
		}
		seen = append(seen, x)
	}
	return nil
}

// harmless reports whether two flags may well have this path: there is none, or
// what is there keeps nothing.
func (x namedFile) harmless() bool {
	return x.path == "" || x.path == os.DevNull || strings.HasPrefix(filepath.Clean(x.path), "/dev/")
}

// same reports whether two paths are one file, by a link too, whether it is
// there yet or not.
func (x namedFile) same(y namedFile) bool {
	a, errA := os.Stat(x.path)
	b, errB := os.Stat(y.path)
	if errA == nil && errB == nil {
		return os.SameFile(a, b)
	}
	return x.place() == y.place()
}

// place is the path from the root, with the folder's links followed.
func (x namedFile) place() string {
	path, err := filepath.Abs(x.path)
	if err != nil { // there is no folder to begin from
		return filepath.Clean(x.path)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// tokenizerFiles are the files of a tokenizer, if its name is that of one: else
// it is that of an encoding or a repository.
func tokenizerFiles(flag, name string) []namedFile {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return []namedFile{{flag, filepath.Join(name, "tokenizer.json")}}
	}
	return []namedFile{{flag, name}}
}
