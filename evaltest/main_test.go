package evaltest_test

import (
	"fmt"
	"os"
	"testing"
)

// exampleDir is where the example's journals go.
var exampleDir string

func TestMain(m *testing.M) {
	var err error
	if exampleDir, err = os.MkdirTemp("", "evaltest"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(exampleDir)
	os.Exit(code)
}
