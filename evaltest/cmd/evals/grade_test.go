package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/peer"
)

// outRow is a line of output as somebody else would read it.
type outRow struct {
	ID, Response, Target any
	Verdict, Answer, How string
	Reason, Why, Warning string
	Score                float64
}

// outRows reads output, which must be whole JSON lines.
func outRows(t testing.TB, text string) (rows []outRow) {
	t.Helper()
	require.True(t, text == "" || strings.HasSuffix(text, "\n"), "a line is cut: %q", text)
	require.True(t, utf8.ValidString(text))
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l == "" {
			continue
		}
		var r outRow
		dec := json.NewDecoder(strings.NewReader(l))
		dec.UseNumber() // 1e400 is a number
		require.NoError(t, dec.Decode(&r), "%q", l)
		require.False(t, dec.More(), "%q", l)
		rows = append(rows, r)
	}
	return rows
}

// TestRows shows what becomes of rows, one command line each.
func TestRows(t *testing.T) {
	tests := []struct {
		name, reason string
		args         []string
		stdin        string
		code         int
	}{
		{"strict", "the whole response", []string{"-grader", "exact-strict"}, `{"id":"a","response":"18","target":"18"}` + "\n" + `{"id":"b","response":"18 ","target":"18"}`, 0},
		{"no id", "the row's number", []string{"-grader", "exact-strict"}, "{\"response\":\"a\",\"target\":\"a\"}\n\n{\"response\":\"b\",\"target\":\"a\"}", 0},
		{"number id and target", "digits are kept", []string{"-grader", "exact-strict"}, `{"id":1e2,"response":"1.50","target":1.50}`, 0},
		{"further fields", "left alone", []string{"-grader", "exact-strict"}, `{"response":"a","target":"a","rules":{"x":[1]},"locale":null,"mode":"odd"}`, 0},
		{"targets", "any of them", []string{"-grader", "exact-strict"}, `{"response":"b","targets":["a","b"]}` + "\n" + `{"response":"c","target":"a","targets":["b",3]}` + "\n" + `{"response":"b","target":["a","b"]}`, 0},
		{"normalised", "wrapping is forgiven", []string{"-grader", "exact-normalised"}, `{"response":"**PARIS**.","target":"Paris"}`, 0},
		{"word", "3 is not in 13", []string{"-grader", "contains-word"}, `{"response":"I see 13 boxes","target":"3"}`, 0},
		{"includes", "3 is in 13", []string{"-grader", "includes"}, `{"response":"I see 13 boxes","target":"3"}`, 0},
		{"numeric", "money and thousands", []string{"-grader", "numeric"}, `{"response":"#### $1,450,000.00","target":1450000}`, 0},
		{"numeric locale", "the row's own goes over the flag's", []string{"-grader", "numeric", "-locale", "en"}, `{"response":"Antwort: 4,2","target":"4.2","locale":"de"}` + "\n" + `{"response":"Answer: 4.2","target":"4.2"}`, 0},
		{"choice", "a number of options, or their texts", []string{"-grader", "choice"}, `{"response":"ANSWER: $B$","target":"B","choices":4}` + "\n" + `{"response":"Paris","target":"Paris","choices":["Rome","Paris"]}`, 0},
		{"json", "structure; mode subset", []string{"-grader", "json"}, `{"response":"{\"a\":1.0}","target":{"a":1}}` + "\n" + `{"response":"{\"a\":1,\"b\":2}","target":"{\"a\":1}","mode":"subset"}` + "\n" + `{"response":"{\"a\":1,\"b\":2}","target":"{\"a\":1}"}` + "\n" + `{"response":"[1,2]","target":[1,2]}`, 0},
		{"tool calls", "both shapes", []string{"-grader", "tool-calls"}, `{"tool_calls":[{"name":"w","arguments":{"c":1}}],"target":{"name":"w","arguments":{"c":1.0}}}` + "\n" + `{"response":"","tool_calls":[{"type":"function","function":{"name":"w","arguments":"{\"c\":2}"}}],"target":[{"name":"w","arguments":{"c":1}}]}`, 0},
		{"f1", "the score is kept", []string{"-grader", "f1", "-threshold", "0.9"}, `{"response":"the red fox","target":"a fox"}`, 0},
		{"regexp", "a group is the answer", []string{"-grader", "regexp", "-pattern", `Answer: (\w+)`}, `{"response":"Answer: yes","target":"Yes"}`, 0},
		{"regexp with a flag group", "(?i) captures nothing", []string{"-grader", "regexp", "-pattern", `(?i)^yes`}, `{"response":"YES"}`, 0},
		{"regexp without groups", "no target is needed", []string{"-grader", "regexp", "-pattern", `^yes`}, `{"response":"yes"}`, 0},
		{"peer", "any rule", []string{"-grader", "lm-eval.gsm8k_cot.strict-match"}, `{"response":"The answer is 18","target":"18"}`, 0},
		{"hostile", "escaped, still the same text", []string{"-grader", "exact-strict"}, `{"id":"\u001b[2J","response":"\u0016--- FAIL\u009b31m\u202e\u2028\ud83d\ude00\u007f\udb40\udc01","target":"x"}`, 0},
		{"no text", "a lone surrogate becomes U+FFFD, and the output says so", []string{"-grader", "exact-strict"}, `{"response":"a\ud800","target":"a\ufffd"}`, 0},
		{"response null", "no text came", []string{"-grader", "exact-strict"}, `{"id":"a","response":null,"target":"18"}`, 0},
		{"json null", "a value like another", []string{"-grader", "json"}, `{"id":"a","response":"null","target":null}` + "\n" + `{"id":"b","response":"0","target":null}`, 0},
		{"input", "the question asks for what is wrong", []string{"-grader", "choice"}, `{"id":"a","input":"Which option is incorrect?","response":"The incorrect option is B.","target":"B","choices":4}` + "\n" + `{"id":"b","response":"The incorrect option is B.","target":"B","choices":4}`, 0},
		{"no row", "grading nothing is no success", []string{"-grader", "exact-strict"}, "\n \n", 1},
		{"utf-16", "says what to do", []string{"-grader", "exact-strict"}, "\xff\xfe{\x00", 1},
		{"choices empty", "says what to write", []string{"-grader", "choice"}, `{"response":"B","target":"B","choices":[]}`, 1},
		{"input no text", "left alone", []string{"-grader", "exact-strict"}, `{"input":[{"role":"user"}],"response":"B","target":"B"}`, 0},

		{"no JSON", "names the line; what went before is written", []string{"-grader", "exact-strict"}, `{"id":"a","response":"18","target":"18"}` + "\n" + `{"id": oops}` + "\n" + `{"id":"c","response":"18","target":"18"}`, 1},
		{"cut row", "a download that broke off", []string{"-grader", "exact-strict"}, `{"id":"a","respo`, 1},
		{"list", "says how to convert it", []string{"-grader", "exact-strict"}, `[{"response":"a","target":"a"}]`, 1},
		{"not an object", "says what it is", []string{"-grader", "exact-strict"}, `"a"`, 1},
		{"key twice", "readers disagree", []string{"-grader", "exact-strict"}, `{"response":"a","response":"b","target":"a"}`, 1},
		{"two objects", "a missing line end", []string{"-grader", "exact-strict"}, `{"response":"a","target":"a"}{"response":"a","target":"a"}`, 1},
		{"no response", "says what to write", []string{"-grader", "exact-strict"}, `{"target":"18"}`, 1},
		{"response number", "says what to write", []string{"-grader", "exact-strict"}, `{"response":18,"target":"18"}`, 1},
		{"no target", "nothing to compare with", []string{"-grader", "exact-strict"}, `{"response":"18"}`, 1},
		{"pattern with a group, no target", "nothing to compare with", []string{"-grader", "regexp", "-pattern", "(a)"}, `{"response":"a"}`, 1},
		{"targets not a list", "says what to write", []string{"-grader", "exact-strict"}, `{"response":"18","targets":"18"}`, 1},
		{"targets empty", "nothing to compare with", []string{"-grader", "exact-strict"}, `{"response":"18","targets":[]}`, 1},
		{"null among targets", "no answer", []string{"-grader", "exact-strict"}, `{"response":"18","targets":["1",null]}`, 1},
		{"id boolean", "says what to write", []string{"-grader", "exact-strict"}, `{"id":true,"response":"18","target":"18"}`, 1},
		{"judge's reply", "a verdict that was offered", []string{"-grader", "judge-reply"}, `{"judge_reply":"{\"pass\": false}","response":"not read","target":"nor this"}`, 0},
		{"judge's reply, cut", "a prefix that parses is no verdict (J11)", []string{"-grader", "judge-reply"}, `{"judge_reply":"GRADE: C","finish":"length"}` + "\n" + `{"judge_reply":"GRADE: C","finish":"MAX_TOKENS"}`, 0},
		{"judge's reply, null", "no text came", []string{"-grader", "judge-reply"}, `{"judge_reply":null}`, 0},
		{"judge's reply, not text", "says what to write", []string{"-grader", "judge-reply"}, `{"judge_reply":{"pass":true}}`, 1},
		{"judge's reply, missing", "another column is no reply", []string{"-grader", "judge-reply"}, `{"response":"GRADE: C"}`, 1},
		{"judge's reply, odd finish", "says what to write", []string{"-grader", "judge-reply"}, `{"judge_reply":"GRADE: C","finish":1}`, 1},
		{"no choices", "says what is missing", []string{"-grader", "choice"}, `{"response":"B","target":"B"}`, 1},
		{"one choice", "says the range", []string{"-grader", "choice"}, `{"response":"B","target":"B","choices":1}`, 1},
		{"choices a string", "says what to write", []string{"-grader", "choice"}, `{"response":"B","target":"B","choices":"ABCD"}`, 1},
		{"unknown mode", "names the known ones", []string{"-grader", "json"}, `{"response":"{}","target":{},"mode":"superset"}`, 1},
		{"mode a number", "says what to write", []string{"-grader", "json"}, `{"response":"{}","target":{},"mode":1}`, 1},
		{"unknown locale", "names the known ones", []string{"-grader", "numeric"}, `{"response":"1","target":"1","locale":"tlh"}`, 1},
		{"target no number", "an item that cannot be graded", []string{"-grader", "numeric"}, `{"id":"q7","response":"1","target":"many"}`, 1},
		{"tool call without a name", "names the call", []string{"-grader", "tool-calls"}, `{"tool_calls":[{"arguments":{}}],"target":[]}`, 1},
		{"tool call with a number for a name", "names call and field", []string{"-grader", "tool-calls"}, `{"tool_calls":[{"name":"a"},{"function":{"name":7}}],"target":[]}`, 1},
		{"tool call no object", "names the call", []string{"-grader", "tool-calls"}, `{"tool_calls":[7],"target":[]}`, 1},
		{"tool calls no list", "says what to write", []string{"-grader", "tool-calls"}, `{"tool_calls":{},"target":[]}`, 1},
	}
	var b strings.Builder
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason, tt.name)
		r := evals(tt.stdin, noEnv, append([]string{"grade"}, tt.args...)...)
		assert.Equal(t, tt.code, r.code, "%s: %s\n%s", tt.name, tt.reason, r.stderr)
		outRows(t, r.stdout)
		if tt.args[1] != "exact-strict" {
			// How the others put it is their own tests' business.
			r.stdout = wording.ReplaceAllString(r.stdout, `"$1":"…"`)
		}
		r.section(&b, tt.name+": "+strings.Join(tt.args, " "), tt.stdin)
	}
	golden(t, "rows.golden", b.String())
}

var wording = regexp.MustCompile(`"(how|why)":"(?:[^"\\]|\\.)*"`)

func rows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%d","response":"%d","target":"%d"}`+"\n", i, i%3, i%2)
	}
	return b.String()
}

func gz(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func zst(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return string(z.EncodeAll([]byte(text), nil))
}

func TestFormats(t *testing.T) {
	plainRows := rows(400)
	half := len(plainRows) / 2
	tests := []struct{ name, reason, data, err string }{
		{"plain", "", plainRows, ""},
		{"CRLF", "from Windows", strings.ReplaceAll(plainRows, "\n", "\r\n"), ""},
		{"BOM", "from Windows", "\xef\xbb\xbf" + plainRows, ""},
		{"no last newline", "an editor's habit", strings.TrimSuffix(plainRows, "\n"), ""},
		{"gzip", "by its first bytes", gz(t, plainRows), ""},
		{"gzip members", "cat a.gz b.gz", gz(t, plainRows[:half]) + gz(t, plainRows[half:]), ""},
		{"gzip with zeros behind", "padding", gz(t, plainRows) + strings.Repeat("\x00", 700), ""},
		{"BOM in gzip", "compressed as it was", gz(t, "\xef\xbb\xbf"+plainRows), ""},
		{"zstd", "by its first bytes", zst(t, plainRows), ""},
		{"zstd frames", "cat a.zst b.zst", zst(t, plainRows[:half]) + zst(t, plainRows[half:]), ""},
		{"gzip cut", "a broken download", gz(t, plainRows)[:900], "the compressed data ends too early"},
		{"gzip footer cut", "all rows are there, the checksum is not", gz(t, plainRows)[:len(gz(t, plainRows))-5], "the compressed data ends too early"},
		{"gzip with more behind", "what is it?", gz(t, plainRows) + "more, but no gzip", "cannot be read"},
		{"zstd cut", "a broken download", zst(t, plainRows)[:300], "the compressed data ends too early"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The name is a lie on purpose.
			path := filepath.Join(t.TempDir(), "rows.txt")
			require.NoError(t, os.WriteFile(path, []byte(tt.data), 0o666))
			for _, r := range []ran{
				evals("", noEnv, "grade", "-grader", "exact-strict", path),
				evals(tt.data, noEnv, "grade", "-grader", "exact-strict"),
				evals(tt.data, noEnv, "grade", "-", "-grader", "exact-strict"),
			} {
				out := outRows(t, r.stdout)
				for i, row := range out {
					require.Equal(t, fmt.Sprint(i), row.ID)
				}
				if tt.err == "" {
					require.Equal(t, 0, r.code, r.stderr)
					require.Len(t, out, 400)
					continue
				}
				require.Equal(t, 1, r.code)
				assert.Contains(t, r.stderr, tt.err)
				assert.Regexp(t, `(rows\.txt|standard input):\d+: `, r.stderr)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	r := evals(`{"response":"`+long+`","target":"x"}`, noEnv, "grade", "-grader", "exact-strict")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Equal(t, long, outRows(t, r.stdout)[0].Response)
}

// TestStreaming: who pipes a row in and waits gets its verdict before the next.
func TestStreaming(t *testing.T) {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		code := execute(in, out, io.Discard, []string{"grade", "-grader", "exact-strict"}, noEnv)
		out.Close()
		done <- code
	}()
	// Without a flush each would wait for the other.
	stuck := time.AfterFunc(20*time.Second, func() { read.CloseWithError(errors.New("no verdict came for the row")) })
	defer stuck.Stop()
	lines := bufio.NewReader(read)
	for i := range 3 {
		_, err := fmt.Fprintf(feed, `{"response":"%d","target":"1"}`+"\n", i)
		require.NoError(t, err)
		l, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, map[bool]string{true: "correct", false: "incorrect"}[i == 1], outRows(t, l)[0].Verdict)
	}
	require.NoError(t, feed.Close())
	assert.Equal(t, 0, <-done)
}

// Every name that -list shows grades.
func TestEveryGrader(t *testing.T) {
	list := evals("", noEnv, "grade", "-list")
	names := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(list.stdout), "\n") {
		name := strings.Fields(l)[0]
		names[name] = true
		args := []string{"grade", "-grader", name}
		if name == "regexp" {
			args = append(args, "-pattern", "1(8)")
		}
		r := evals(`{"response":"ANSWER: 18","target":"18","choices":["18","20"],"tool_calls":[],"judge_reply":"GRADE: C"}`, noEnv, args...)
		if name == "json" || name == "tool-calls" {
			r = evals(`{"response":"[]","target":[],"tool_calls":[]}`, noEnv, args...)
		}
		require.Equal(t, 0, r.code, "%s: %s", name, r.stderr)
		out := outRows(t, r.stdout)
		require.Len(t, out, 1, name)
		assert.Contains(t, []string{"correct", "incorrect", "unparsed"}, out[0].Verdict, name)
		assert.NotEmpty(t, out[0].How, name)
	}
	for _, r := range peer.Rules() {
		assert.True(t, names[r.Name], r.Name)
	}
	for _, name := range []string{"numeric", "choice", "exact-normalised", "exact-strict", "contains-word", "json", "includes", "regexp", "tool-calls", "f1"} {
		assert.True(t, names[name], name)
	}
}

// FuzzGrade: whatever a line holds, the output is whole JSON lines and every
// line is either answered or the named cause of an error.
func FuzzGrade(f *testing.F) {
	f.Add("exact-strict", `{"id":1,"response":"a\ud800","target":["a",1],"mode":3}`)
	f.Add("json", "{\"response\":\"{\xff\",\"target\":{\"a\":[1]},\"mode\":\"subset\"}")
	f.Add("choice", `{"response":"B","target":"B","choices":4}`)
	f.Add("choice", `{"response":"B","target":"B","choices":["a","b"]}`)
	f.Add("tool-calls", `{"target":[],"tool_calls":[{"function":{"name":"x","arguments":"{"}}]}`)
	f.Add("numeric", `{"response":"1\u202e","target":1e400,"locale":"de"}`)
	f.Add("f1", "\xef\xbb\xbf{}")
	f.Add("choice", "")
	f.Fuzz(func(t *testing.T, grader, in string) {
		if strings.HasPrefix(grader, "-") {
			return // a flag
		}
		r := evals(in, noEnv, "grade", "-grader", grader)
		out := outRows(t, r.stdout)
		if r.code == 2 {
			require.Empty(t, out)
			return
		}
		if r.code == 1 {
			require.Regexp(t, `^evals: standard input(:\d+: | holds no row)`, r.stderr)
			return
		}
		for _, row := range out {
			require.Contains(t, []string{"correct", "incorrect", "unparsed"}, row.Verdict)
		}
	})
}
