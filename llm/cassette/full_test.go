//go:build darwin || linux

package cassette_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// TestDiskFull records in a process that may write 4,000 bytes to a file: it
// fails as on a full disk, in the middle of an entry.
func TestDiskFull(t *testing.T) {
	const n = 40
	if path := os.Getenv("CASSETTE_FULL_TEST"); path != "" {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4000, Max: 4000}))
		r := newRig(t, "unused", func(c llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: fmt.Sprintf("%s #%d %s", c.Last(), c.N, strings.Repeat("x", 150))}
		})
		r.path = path
		c := r.open(cassette.Options{Mode: cassette.Record})
		for i := range n {
			_, err := r.ask(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("question ", i))
			fmt.Println("asked", i, err)
		}
		fmt.Println("close:", c.Close())
		return
	}
	r := newRig(t, "c.jsonl", counting) // plain: Close needs as much again
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiskFull$")
	cmd.Env = append(os.Environ(), "CASSETTE_FULL_TEST="+r.path)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var stored []int
	for _, line := range strings.Split(string(out), "\n") {
		var i int
		if _, err := fmt.Sscanf(line, "asked %d <nil>", &i); err == nil {
			stored = append(stored, i)
		} else if strings.HasPrefix(line, "asked") {
			assert.Contains(t, line, r.path+".part", "the error names the file")
			assert.Contains(t, line, "file too large")
		}
	}
	require.NotEmpty(t, stored)
	require.Less(t, len(stored), n)

	c := r.open(cassette.Options{Mode: cassette.Auto})
	assert.Equal(t, len(stored), c.Stats().Entries, "what could be written is there, whole")
	for i := range n {
		r.mustAsk(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("question ", i))
	}
	assert.Equal(t, n-len(stored), r.server.Counts().Calls, "only the others are asked again")
	r.close(c)
	assert.Equal(t, n, r.open(cassette.Options{}).Stats().Entries)
}
