package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

func TestFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sdkOf(new(llmtest.Server))
		up, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte("{}\n\x00\xff"), Purpose: goopenai.PurposeBatch})
		require.NoError(t, err)
		assert.Equal(t, 5, up.Bytes)
		assert.Equal(t, "in.jsonl", up.FileName)
		assert.Equal(t, "file", up.Object)
		assert.Equal(t, "batch", up.Purpose)
		assert.Equal(t, time.Now().Unix(), up.CreatedAt)
		got, err := c.GetFile(t.Context(), up.ID)
		require.NoError(t, err)
		assert.Equal(t, up.ID, got.ID)
		assert.Equal(t, up.Bytes, got.Bytes)
		raw, err := c.GetFileContent(t.Context(), up.ID)
		require.NoError(t, err)
		b, err := io.ReadAll(raw)
		require.NoError(t, err)
		raw.Close()
		assert.Equal(t, "{}\n\x00\xff", string(b), "byte for byte")
		list, err := c.ListFiles(t.Context())
		require.NoError(t, err)
		require.Len(t, list.Files, 1)
		require.NoError(t, c.DeleteFile(t.Context(), up.ID))
		_, err = c.GetFile(t.Context(), up.ID)
		assert.ErrorContains(t, err, "No such File object")
		_, err = c.GetFileContent(t.Context(), up.ID)
		assert.ErrorContains(t, err, "No such File object")
		list, err = c.ListFiles(t.Context())
		require.NoError(t, err)
		assert.Empty(t, list.Files)
	})
}

func TestFilesAreListedInPages(t *testing.T) {
	server := new(llmtest.Server)
	c := sdkOf(server)
	var ids []string
	for i, purpose := range []goopenai.PurposeType{"batch", "batch", "user_data", "batch"} {
		f, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte{byte('0' + i)}, Purpose: purpose})
		require.NoError(t, err)
		ids = append(ids, f.ID)
	}
	for _, tc := range []struct {
		name, query string
		want        []string
		more        bool
	}{
		{"the newest first", "", []string{ids[3], ids[2], ids[1], ids[0]}, false},
		{"the oldest first", "order=asc", ids, false},
		{"a page", "limit=2", []string{ids[3], ids[2]}, true},
		{"the next page", "limit=2&after=" + ids[2], []string{ids[1], ids[0]}, false},
		{"a purpose", "purpose=batch", []string{ids[3], ids[1], ids[0]}, false},
		{"nothing left", "after=" + ids[0], []string{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, body := get(t, server, "/v1/files?"+tc.query)
			require.Equal(t, 200, status, "%s", body)
			var list struct {
				Data    []goopenai.File `json:"data"`
				FirstID *string         `json:"first_id"`
				LastID  *string         `json:"last_id"`
				HasMore bool            `json:"has_more"`
			}
			require.NoError(t, json.Unmarshal(body, &list))
			got := []string{}
			for _, f := range list.Data {
				got = append(got, f.ID)
			}
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.more, list.HasMore)
			if len(got) == 0 {
				assert.Nil(t, list.FirstID)
				return
			}
			assert.Equal(t, got[0], *list.FirstID)
			assert.Equal(t, got[len(got)-1], *list.LastID)
		})
	}
	for _, query := range []string{"limit=0", "limit=x", "limit=10001", "after=file-99", "order=up"} {
		status, body := get(t, server, "/v1/files?"+query)
		assert.Equal(t, 400, status, "%s: %s", query, body)
	}
}

// get asks for a path without any SDK.
func get(t *testing.T, server *llmtest.Server, path string) (int, []byte) {
	t.Helper()
	resp, err := server.Client().Get("http://fake" + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, b
}

// form is a body of fields, name and value in turn; "file:" is a file.
func form(t *testing.T, fields ...string) (kind string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		name, isFile := strings.CutPrefix(fields[i], "file:")
		if isFile {
			p, err := w.CreateFormFile("file", name)
			require.NoError(t, err)
			_, err = io.WriteString(p, fields[i+1])
			require.NoError(t, err)
			continue
		}
		require.NoError(t, w.WriteField(name, fields[i+1]))
	}
	require.NoError(t, w.Close())
	return w.FormDataContentType(), b.Bytes()
}

func TestUploadIsRefused(t *testing.T) {
	server := &llmtest.Server{Batches: llmtest.Batches{MaxBytes: 10}}
	type upload struct {
		kind string
		body []byte
	}
	of := func(kind string, body []byte) upload { return upload{kind, body} }
	cutKind, cutBody := form(t, "purpose", "batch", "file:in.jsonl", "{}")
	for _, tc := range []struct {
		name, want string
		status     int
		upload     upload
	}{
		{"no form", "must be multipart/form-data", 400, of("application/json", []byte("{}"))},
		{"no boundary", "must be multipart/form-data", 400, of("multipart/form-data", []byte("{}"))},
		{"no file", `no field \"file\"`, 400, of(form(t, "purpose", "batch"))},
		{"no purpose", `purpose is \"\"; it must be one of`, 400, of(form(t, "file:in.jsonl", "{}"))},
		{"another purpose", `purpose is \"fun\"`, 400, of(form(t, "purpose", "fun", "file:in.jsonl", "{}"))},
		{"empty", "the file is empty", 400, of(form(t, "purpose", "batch", "file:in.jsonl", ""))},
		{"two files", "two fields", 400, of(form(t, "purpose", "batch", "file:in.jsonl", "{}", "file:in.jsonl", "{}"))},
		{"too long", "longer than the 10 bytes", 413, of(form(t, "purpose", "batch", "file:in.jsonl", "12345678901"))},
		{"another name", `name is \"in.txt\"; a batch's file must end in .jsonl`, 400, of(form(t, "purpose", "batch", "file:in.txt", "{}"))},
		{"cut", "cannot be read", 400, of(cutKind, cutBody[:len(cutBody)-20])},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := server.Client().Post("http://fake/v1/files", tc.upload.kind, bytes.NewReader(tc.upload.body))
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tc.status, resp.StatusCode, "%s", b)
			assert.Contains(t, string(b), tc.want)
			assert.True(t, json.Valid(b), "%s", b)
		})
	}
}

// TestUpload: files that are for no batch may be longer, fields come in any
// order, and those that are not known are left out.
func TestUpload(t *testing.T) {
	kind, body := form(t, "expires_after", "7", "file:x.bin", strings.Repeat("x", 11), "purpose", "user_data")
	server := &llmtest.Server{Batches: llmtest.Batches{MaxBytes: 10}}
	resp, err := server.Client().Post("http://fake/v1/files", kind, bytes.NewReader(body))
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
}
