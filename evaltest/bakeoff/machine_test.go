package bakeoff

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestModelName(t *testing.T) {
	for _, row := range []struct{ name, reason, cpuinfo, want string }{
		{"amd64", "the first of several, its own colons kept", "processor\t: 0\nmodel name\t: A: B 3\n\nprocessor\t: 1\nmodel name\t: C\n", "A: B 3"},
		{"arm64", "it tells numbers only", "processor\t: 0\nCPU implementer\t: 0x41\n", ""},
		{"empty", "no such file", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, modelName(row.cpuinfo), row.reason)
		})
	}
}

func TestPortable(t *testing.T) {
	for _, row := range []struct{ name, reason, path, want string }{
		{"none", "made in memory", "", ""},
		{"relative", "as given: it is the same everywhere", "testdata/a.jsonl.gz", "testdata/a.jsonl.gz"},
		{"above", "as given", "../shared/a.jsonl", "../shared/a.jsonl"},
		{"absolute", "folders of one machine", "/home/me/a.jsonl", "a.jsonl"},
		{"drive", "on any system", `C:\Users\me\a.jsonl`, "a.jsonl"},
		{"share", "a machine's name", `\\host\d\a.jsonl`, "a.jsonl"},
		{"colon", "no drive", "ab:c.jsonl", "ab:c.jsonl"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, portable(row.path), row.reason)
		})
	}
}
