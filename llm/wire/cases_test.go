package wire_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixture is one fixture of the shared cases.
type fixture struct {
	ID     string
	Grader string           `json:"grader"`
	Usage  json.RawMessage  `json:"usage"`
	Expect map[string]int64 `json:"expect"`
	Chunks int              `json:"chunks"`
}

// caseFixtures are the fixtures of one area. The file is not part of the
// repository: without it the test is skipped, and the tables beside it hold
// the same kinds.
func caseFixtures(t *testing.T, area string) []fixture {
	t.Helper()
	b, err := os.ReadFile("../../../shared/cases/cases.json")
	if err != nil {
		t.Skip("the shared cases are not here: ", err)
	}
	var rows []struct {
		ID       string            `json:"id"`
		Area     string            `json:"area"`
		Fixtures []json.RawMessage `json:"fixtures"`
	}
	require.NoError(t, json.Unmarshal(b, &rows))
	var out []fixture
	for _, r := range rows {
		if r.Area != area {
			continue
		}
		for _, raw := range r.Fixtures {
			f := fixture{ID: r.ID}
			require.NoError(t, json.Unmarshal(raw, &f), r.ID)
			out = append(out, f)
		}
	}
	return out
}
