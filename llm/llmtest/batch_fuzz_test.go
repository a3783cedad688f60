package llmtest

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzUpload: a form is read or refused, never both, and within the limits.
func FuzzUpload(f *testing.F) {
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{}\r\n--x--\r\n")
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n")
	f.Add("multipart/form-data; boundary=", "--\r\n")
	f.Add("text/plain", "{}")
	f.Add("multipart/form-data; boundary=\"a b\"", "--a b--")
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest("POST", "/v1/files", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		file, status, err := readUpload(r, 16)
		if err != nil {
			assert.Nil(t, file)
			assert.True(t, status == 400 || status == 413, "%d", status)
			return
		}
		assert.NotEmpty(t, file.content)
		assert.Contains(t, purposes, file.purpose)
		if file.purpose == "batch" {
			assert.LessOrEqual(t, len(file.content), 16)
			assert.True(t, strings.HasSuffix(file.name, ".jsonl"))
		}
	})
}

// FuzzBatchLines: each line is a request or an error that names it, and what
// is taken is one job's: ids that differ, one model, objects.
func FuzzBatchLines(f *testing.F) {
	line := `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[]}}`
	f.Add([]byte(line))
	f.Add([]byte(line + "\n" + line))
	f.Add([]byte(line + "\r\n" + strings.Replace(line, `"1"`, `"2"`, 1) + "\r\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"custom_id":null,"method":7}` + "\n[]\n{}\ntrue"))
	f.Add([]byte(`{"custom_id":"\u0000","method":"POST","url":"/v1/chat/completions","body":{"model":7}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		ids, bodies, errs := readBatch(content, chatEndpoint, 5)
		assert.Len(t, bodies, len(ids))
		lines := bytes.Count(bytes.TrimRight(content, "\r\n"), []byte("\n")) + 1
		if len(errs) == 0 {
			assert.Len(t, ids, lines, "nothing is dropped")
		}
		seen, model := map[string]bool{}, ""
		for i, id := range ids {
			assert.False(t, seen[id], "%q twice", id)
			seen[id] = true
			var b struct {
				Model string `json:"model"`
			}
			assert.NoError(t, json.Unmarshal(bodies[i], &b))
			assert.True(t, i == 0 || b.Model == model)
			model = b.Model
		}
		last := 0
		for _, e := range errs {
			assert.NotEmpty(t, e.Code)
			assert.NotEmpty(t, e.Message)
			if e.Line == nil {
				assert.Len(t, errs, 1, "an error of the whole file stands alone")
				continue
			}
			assert.Greater(t, *e.Line, last, "one error a line")
			assert.LessOrEqual(t, *e.Line, lines)
			last = *e.Line
		}
	})
}
