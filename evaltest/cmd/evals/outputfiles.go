package main

import (
	"os"
	"path/filepath"
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
// inputs are those that are read, more those that are written besides a run's
// own. Two flags may read one file.
func (o *outputFlags) check(inputs []namedFile, more ...namedFile) error {
	if err := metric.CheckBenchName(o.benchName); err != nil {
		return usagef("-bench-name is %q: %v", o.benchName, err)
	}
	written := append(o.files(), more...)
	seen := inputs
	for _, w := range written {
		if w.path == "-" {
			return usagef("-%s is %q: want a file; standard output has the summary", w.flag, w.path)
		}
		if w.path == "" || strings.HasPrefix(filepath.Clean(w.path), "/dev/") {
			continue
		}
		for _, other := range seen {
			if other.path != "" && sameFile(other.path, w.path) {
				return usagef("-%s and -%s are both %q: each needs a file of its own", other.flag, w.flag, w.path)
			}
		}
		seen = append(seen[:len(seen):len(seen)], w)
	}
	return nil
}

// sameFile reports whether two paths are of one file, which need not be there.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(one, two)
	}
	return whole(a) == whole(b)
}

// whole is a path from the root, through links of its folder.
func whole(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
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
