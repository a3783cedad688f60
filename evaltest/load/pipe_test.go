package load_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/fake"
)

// inMemory runs a load against a server in memory, in a bubble: in virtual time,
// so that every time is exact whatever the machine does besides. Host and Dial of the
// load's client are set.
func inMemory(t *testing.T, s *fake.Server, l load.Load) *load.Report {
	t.Helper()
	p := fake.NewPipe()
	stop, err := s.Serve(p)
	require.NoError(t, err)
	defer stop()
	l.Client.Host, l.Client.Model, l.Client.Dial = "http://h", "m", p.Dial
	l.Seed = 1
	rep, err := load.Run(t.Context(), l)
	require.NoError(t, err)
	return rep
}
