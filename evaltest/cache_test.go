package evaltest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A userModule is a user's: go test is run on it as a user runs it.
type userModule struct {
	t    *testing.T
	root string
	env  []string
}

// newModule writes a module that uses this one. Files are given by path.
func newModule(t *testing.T, files map[string]string) *userModule {
	t.Helper()
	if raceDetector {
		t.Skip("what it builds has no race detector")
	}
	repo, err := filepath.Abs("..")
	require.NoError(t, err)
	m := &userModule{t: t, root: t.TempDir()}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module github.com/goevals/evals", "module example.com/m", 1)
	text += fmt.Sprintf("\nrequire github.com/goevals/evals v0.0.0\nreplace github.com/goevals/evals => %s\n", repo)
	m.write("go.mod", text)
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	require.NoError(t, err)
	m.write("go.sum", string(sum))
	for name, text := range files {
		m.write(name, text)
	}
	m.env = append(cleanEnv(), "EVALTEST_DIR="+t.TempDir(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	return m
}

// write writes a file that is older than the 2 seconds below which go test
// does not cache.
func (m *userModule) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o666))
	m.age(name, 0)
}

// longAgo is fixed: go test's cache compares times.
var longAgo = time.Now().Add(-time.Hour)

// age sets how much older than that a file is.
func (m *userModule) age(name string, age time.Duration) {
	m.t.Helper()
	then := longAgo.Add(-age)
	require.NoError(m.t, os.Chtimes(filepath.Join(m.root, name), then, then))
}

// test runs go test and returns its output.
func (m *userModule) test(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-vet=off"}, args...)...)
	cmd.Dir, cmd.Env = m.root, m.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// cached says for each package whether its ok line is from the cache.
func cached(t *testing.T, out string) map[string]bool {
	t.Helper()
	m := map[string]bool{}
	for _, ok := range regexp.MustCompile(`(?m)^ok\s+example\.com/m/(\S+)\s+(.*)$`).FindAllStringSubmatch(out, -1) {
		m[ok[1]] = strings.Contains(ok[2], "(cached)")
	}
	require.NotContains(t, out, "FAIL", out)
	return m
}

// unlessEdited says why nothing may be from the cache though it should.
const unlessEdited = "if this module's sources changed while the test ran, the binaries were built anew and nothing is from the cache: run it again"

const rows = `{"id":"a","input":"1+1","target":"2"}
{"id":"b","input":"2+2","target":"4"}
`

// userTest is a test file of a user's package. More is what Run gets besides a
// grader; before is code that comes first.
func userTest(pkg, path, more, before string) string {
	return `package ` + pkg + `

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

var _ = []any{io.EOF, http.MethodGet, os.Getenv, strings.NewReader, wire.Transport{}}

func known(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	return llm.Response{Text: it.Target}, nil
}

func asked(ctx context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	url := os.Getenv("MODEL_URL")
	if url == "" {
		url = "http://nowhere.invalid"
	}
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/ask", strings.NewReader(it.Input))
	if err != nil {
		return llm.Response{}, err
	}
	resp, err := (&http.Client{Transport: wire.Transport{}}).Do(req)
	if err != nil {
		return llm.Response{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return llm.Response{Text: string(text)}, err
}

func TestEval(t *testing.T) {
	` + before + `
	ds := evaltest.Load(t, "` + path + `")
	evaltest.Run(t, ds, evaltest.StrategyFunc(` + more + `), evaltest.Grader(grade.Exact()), evaltest.Attempts(1)` +
		map[bool]string{true: `, evaltest.Offline()`, false: ``}[more == "known" && pkg != "live"] +
		map[bool]string{true: `, evaltest.Cassette("testdata/calls.jsonl")`, false: ``}[more == "asked"] + `)
}
`
}

// TestCache: T08. A live run is never served from go test's cache, a replayed
// one is, until its dataset, its cassette or a deciding variable changes.
func TestCache(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds three test binaries")
	}
	chatty := `for range 300 { os.Getenv("SOME_VARIABLE_THAT_MAKES_THE_LOG_LONG") }`
	m := newModule(t, map[string]string{
		"live/live_test.go":           userTest("live", "testdata/rows.jsonl", "known", chatty),
		"live/testdata/rows.jsonl":    rows,
		"offline/offline_test.go":     userTest("offline", "testdata/rows.jsonl", "known", ""),
		"offline/testdata/rows.jsonl": rows,
		"replay/replay_test.go":       userTest("replay", "testdata/rows.jsonl", "asked", ""),
		"replay/testdata/rows.jsonl":  rows,
	})
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body := make([]byte, 3)
		r.Body.Read(body)
		fmt.Fprint(w, int(body[0]-'0')+int(body[2]-'0'))
	}))
	defer server.Close()

	env := m.env
	m.env = append(env, "EVALTEST_CASSETTE=record", "EVALTEST_PARALLEL=1", "MODEL_URL="+server.URL)
	assert.Equal(t, map[string]bool{"replay": false}, cached(t, m.test("./replay")))
	assert.EqualValues(t, 2, calls.Load())
	m.env = env
	m.age("replay/testdata/calls.jsonl", 0)

	first := cached(t, m.test("./..."))
	assert.Equal(t, map[string]bool{"live": false, "offline": false, "replay": false}, first)
	second := cached(t, m.test("./..."))
	assert.Equal(t, map[string]bool{"live": false, "offline": true, "replay": true}, second, unlessEdited)

	m.age("offline/testdata/rows.jsonl", time.Hour)
	m.age("replay/testdata/calls.jsonl", time.Hour)
	third := cached(t, m.test("./..."))
	assert.Equal(t, map[string]bool{"live": false, "offline": false, "replay": false}, third, "a changed dataset, a changed cassette")

	m.env = append(env, "EVALTEST_CASSETTE=auto")
	assert.Equal(t, map[string]bool{"replay": false}, cached(t, m.test("./replay")), "auto may ask")
	m.env = env
	m.age("replay/testdata/calls.jsonl", time.Hour)
	assert.Equal(t, map[string]bool{"replay": true}, cached(t, m.test("./replay")), "what was kept is good again; "+unlessEdited)
	assert.EqualValues(t, 2, calls.Load(), "nothing was asked but while recording")

	m.env = append(env, "EVALTEST_CASSETTE=off", "EVALTEST_PARALLEL=1", "MODEL_URL="+server.URL)
	for range 2 {
		assert.Equal(t, map[string]bool{"replay": false}, cached(t, m.test("./replay")), "off asks each time")
	}
	assert.EqualValues(t, 6, calls.Load())
	assert.NotContains(t, m.test("-v", "./replay"), "no call went through cassette")
	m.env = env
	assert.Equal(t, map[string]bool{"replay": true}, cached(t, m.test("./replay")), "the cassette is as it was; "+unlessEdited)
}
