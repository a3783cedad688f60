package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManual runs every command of the manual and compares what it prints.
func TestManual(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	lines := strings.Split(f.Doc.Text(), "\n")
	ran := 0
	for i := 0; i < len(lines); i++ {
		command, ok := strings.CutPrefix(lines[i], "\t$ evals ")
		if !ok {
			continue
		}
		var want strings.Builder
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			want.WriteString(strings.TrimPrefix(lines[i], "\t") + "\n")
		}
		r := evals("", noEnv, strings.Fields(command)...)
		assert.Equal(t, want.String(), r.stdout+r.stderr, "evals %s", command)
		ran++
	}
	assert.GreaterOrEqual(t, ran, 3)
}
