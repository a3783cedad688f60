package evaltest

import (
	"strings"
	"testing"

	"github.com/goevals/evals/dataset"
)

// RunForTest is Run in a subtest that does not fail with it. env holds settings
// by the names of their variables, without EVALTEST_.
func RunForTest(t *testing.T, ds *dataset.Dataset, s Strategy, env map[string]string, got func(*Report), opts ...Option) {
	t.Helper()
	t.Run("run", func(t *testing.T) {
		h := realHooks()
		h.flags = nil
		h.getenv = func(name string) string { return env[strings.TrimPrefix(name, "EVALTEST_")] }
		h.environ = func() []string { return nil }
		rep, err := runWith(h, t, place{"m", "m/pkg", "x_test.go", 7}, ds, s, opts)
		if err != nil {
			t.Fatal(err)
		}
		got(rep)
	})
}
