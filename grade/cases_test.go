package grade

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// sharedFile returns the path of a file that lies beside the repository and is
// not part of it. Without it the test is skipped.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there: it is not part of the repository; the table tests cover the same kinds", filepath.ToSlash(path))
	}
	return path
}

type sharedCase struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Fixtures []struct {
		Grader   string          `json:"grader"`
		Response string          `json:"response"`
		Target   string          `json:"target"`
		Expect   json.RawMessage `json:"expect"`
		Locale   string          `json:"locale"`
		Mode     string          `json:"mode"`
		Choices  int             `json:"choices"`
	} `json:"fixtures"`
}

// sharedGrader returns the grader that a fixture names; nil for what is no
// business of this package.
func sharedGrader(grader, locale, mode string) Grader {
	switch grader {
	case "numeric":
		if locale != "" {
			return Numeric(Locale(locale))
		}
		return Numeric()
	case "choice":
		return Choice()
	case "exact-normalised":
		return Exact()
	case "contains-word":
		return Includes()
	case "json":
		if mode == "subset" {
			return JSON(JSONSubset())
		}
		return JSON()
	}
	return nil
}

// TestSharedCases grades every fixture of the shared case file.
func TestSharedCases(t *testing.T) {
	data, err := os.ReadFile(sharedFile(t, "cases/cases.json"))
	require.NoError(t, err)
	var cases []sharedCase
	require.NoError(t, json.Unmarshal(data, &cases))
	n := 0
	for _, c := range cases {
		for i, f := range c.Fixtures {
			g := sharedGrader(f.Grader, f.Locale, f.Mode)
			if g == nil {
				continue
			}
			n++
			t.Run(fmt.Sprintf("%s/%d", c.ID, i), func(t *testing.T) {
				item := dataset.Item{ID: c.ID, Target: f.Target}
				for k := range f.Choices {
					item.Choices = append(item.Choices, fmt.Sprintf("option number %d", k+1))
				}
				v, err := g.Grade(context.Background(), item, llm.Response{Text: f.Response})
				require.NoError(t, err)
				require.NoError(t, v.Check())
				want := string(f.Expect) == `"pass"`
				assert.Equal(t, want, v.Mark == Correct, "%s: %q against %q: %+v", c.Title, f.Response, f.Target, v)
			})
		}
	}
	assert.Equal(t, 63, n, "fixtures graded: numeric 35, choice 18, json 7, exact-normalised 2, contains-word 1")
}

// readGzipLines decodes a gzip-JSONL file.
func readGzipLines[T any](t testing.TB, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	zr, err := gzip.NewReader(file)
	require.NoError(t, err)
	dec := json.NewDecoder(zr)
	var rows []T
	for dec.More() {
		var row T
		require.NoError(t, dec.Decode(&row))
		rows = append(rows, row)
	}
	return rows
}
