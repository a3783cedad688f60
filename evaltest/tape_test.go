package evaltest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/cassette"
)

// TestRecordsAlone: two tests that record one file anew would each keep only
// its own recordings.
func TestRecordsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	open := func(mode cassette.Mode, test string) error {
		tp, err := openTape(&settings{cassette: path, cassetteMode: mode}, test)
		if err == nil {
			_, err = tp.close(false)
		}
		return err
	}
	require.NoError(t, open(cassette.Record, "TestA"))
	require.NoError(t, open(cassette.Record, "TestA"), "again, by -count")
	assert.ErrorContains(t, open(cassette.Record, "TestB"), "was recorded by TestA just now, and TestB would drop that")
	assert.NoError(t, open(cassette.Auto, "TestB"), "adds")

	held, err := openTape(&settings{cassette: path, cassetteMode: cassette.Record}, "TestA")
	require.NoError(t, err)
	defer held.close(false)
	assert.ErrorContains(t, open(cassette.Record, "TestA"), "if it is a test that runs in parallel, give each a cassette of its own")
}
