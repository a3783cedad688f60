package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

func TestBatchFails(t *testing.T) {
	good := `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"q"}]}}`
	type fault struct {
		code, param string
		line        int
	}
	for _, tc := range []struct {
		name, reason, file string
		want               []fault
	}{
		{"no JSON", "each bad line is told by its number", good + "\n{\"custom_id\":\n" + `nope`, []fault{{"invalid_json_line", "", 2}, {"invalid_json_line", "", 3}}},
		{"blank line in the middle", "a line is a request", good + "\n\n" + strings.Replace(good, `"1"`, `"2"`, 1), []fault{{"invalid_json_line", "", 2}}},
		{"the same id twice", "answers could not be told apart", good + "\n" + good, []fault{{"duplicate_custom_id", "custom_id", 2}}},
		{"no id", "answers could not be told apart", strings.Replace(good, `"custom_id":"1",`, "", 1), []fault{{"missing_required_parameter", "custom_id", 1}}},
		{"an id that is a number", "it must be a text", strings.Replace(good, `"1"`, `1`, 1), []fault{{"invalid_json_line", "", 1}}},
		{"an empty id", "answers could not be told apart", strings.Replace(good, `"1"`, `""`, 1), []fault{{"missing_required_parameter", "custom_id", 1}}},
		{"no method", "the API asks for it", strings.Replace(good, `"method":"POST",`, "", 1), []fault{{"missing_required_parameter", "method", 1}}},
		{"another method", "the API takes POST only", strings.Replace(good, "POST", "GET", 1), []fault{{"invalid_method", "method", 1}}},
		{"no url", "the API asks for it", strings.Replace(good, `"url":"/v1/chat/completions",`, "", 1), []fault{{"missing_required_parameter", "url", 1}}},
		{"another url", "a batch has one endpoint", strings.Replace(good, "/v1/chat", "/chat", 1), []fault{{"url_mismatch", "url", 1}}},
		{"no body", "there is nothing to answer", strings.Replace(good, `"body"`, `"bodi"`, 1), []fault{{"missing_required_parameter", "body", 1}}},
		{"a body that is no object", "there is nothing to answer", `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":[1]}`, []fault{{"invalid_request", "body", 1}}},
		{"another model", "a batch has one model", good + "\n" + strings.NewReplacer(`"1"`, `"2"`, `"m"`, `"n"`).Replace(good), []fault{{"model_mismatch", "body.model", 2}}},
		{"nothing but white space", "a file of blank lines is empty", " \n\n", []fault{{"empty_file", "", 0}}},
		{"too many", "the test's limit is 3", strings.Repeat(good+"\n", 4), []fault{{"too_many_tasks", "", 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &llmtest.Server{Batches: llmtest.Batches{Validating: time.Minute, MaxLines: 3}}
				c := sdkOf(server)
				f, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte(tc.file), Purpose: goopenai.PurposeBatch})
				require.NoError(t, err)
				b, err := c.CreateBatch(t.Context(), goopenai.CreateBatchRequest{InputFileID: f.ID, Endpoint: goopenai.BatchEndpointChatCompletions})
				require.NoError(t, err, "faults of the file are told later")
				assert.Equal(t, "validating", b.Status)
				<-time.After(time.Minute)
				b, err = c.RetrieveBatch(t.Context(), b.ID)
				require.NoError(t, err)
				assert.Equal(t, "failed", b.Status)
				assert.NotNil(t, b.FailedAt)
				require.NotNil(t, b.Errors)
				var got []fault
				for _, e := range b.Errors.Data {
					f := fault{code: e.Code}
					if e.Param != nil {
						f.param = *e.Param
					}
					if e.Line != nil {
						f.line = *e.Line
					}
					got = append(got, f)
				}
				assert.Equal(t, tc.want, got, tc.reason)
				_, err = c.CancelBatch(t.Context(), b.ID)
				assert.ErrorContains(t, err, "status 'failed'")
				assert.Zero(t, server.Counts().Calls)
			})
		})
	}
}

func TestBatchesThatCannotBeMeant(t *testing.T) {
	for want, b := range map[string]llmtest.Batches{
		"Server.Batches.Running is -1s":      {Running: -time.Second},
		"Server.Batches.Window is -1ns":      {Window: -1},
		"MaxLines -1 and MaxBytes 0":         {MaxLines: -1},
		"MaxLines 0 and MaxBytes -7":         {MaxBytes: -7},
		"Server.Batches.Cancelling is -1ns":  {Cancelling: -1},
		"Server.Batches.Validating is -1ns":  {Validating: -1},
		"Server.Batches.Finalizing is -1m0s": {Finalizing: -time.Minute},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() { assert.ErrorContains(t, recover().(error), want) }()
			(&llmtest.Server{Batches: b}).Client()
		})
	}
}

func TestBatchIsRefused(t *testing.T) {
	server := new(llmtest.Server)
	c := sdkOf(server)
	file := func(name string, purpose goopenai.PurposeType) string {
		f, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: name, Bytes: []byte("{}"), Purpose: purpose})
		require.NoError(t, err)
		return f.ID
	}
	id := file("in.jsonl", goopenai.PurposeBatch)
	many := map[string]any{}
	for i := range 17 {
		many[fmt.Sprint(i)] = "v"
	}
	for _, tc := range []struct {
		name, want string
		req        goopenai.CreateBatchRequest
	}{
		{"no such file", "No such File object: file-99", goopenai.CreateBatchRequest{InputFileID: "file-99", Endpoint: goopenai.BatchEndpointChatCompletions}},
		{"another purpose", `purpose is "fine-tune"; it must be batch`, goopenai.CreateBatchRequest{InputFileID: file("x.txt", goopenai.PurposeFineTune), Endpoint: goopenai.BatchEndpointChatCompletions}},
		{"another endpoint", `endpoint is "/v1/embeddings"`, goopenai.CreateBatchRequest{InputFileID: id, Endpoint: goopenai.BatchEndpointEmbeddings}},
		{"another window", `completion_window is "1h"; it must be 24h`, goopenai.CreateBatchRequest{InputFileID: id, Endpoint: goopenai.BatchEndpointChatCompletions, CompletionWindow: "1h"}},
		{"metadata of numbers", "metadata must be an object of texts", goopenai.CreateBatchRequest{InputFileID: id, Endpoint: goopenai.BatchEndpointChatCompletions, Metadata: map[string]any{"a": 1}}},
		{"too much metadata", "metadata has 17 pairs", goopenai.CreateBatchRequest{InputFileID: id, Endpoint: goopenai.BatchEndpointChatCompletions, Metadata: many}},
		{"long metadata", "too long", goopenai.CreateBatchRequest{InputFileID: id, Endpoint: goopenai.BatchEndpointChatCompletions, Metadata: map[string]any{"a": strings.Repeat("x", 513)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := c.CreateBatch(t.Context(), tc.req)
			var api *goopenai.APIError
			require.ErrorAs(t, err, &api)
			assert.Equal(t, 400, api.HTTPStatusCode)
			assert.ErrorContains(t, err, tc.want)
		})
	}
	_, err := c.RetrieveBatch(t.Context(), "batch_99")
	assert.ErrorContains(t, err, "No batch found")
}

func TestBatchPaths(t *testing.T) {
	server := new(llmtest.Server)
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/batches/batch_1", 405},
		{"DELETE", "/v1/batches", 405},
		{"GET", "/v1/batches/batch_1/nope", 404},
		{"POST", "/v1/batches", 400},
		{"GET", "/v1/batches/%00%1b%22", 404},
		{"GET", "/v1beta/batches/%00%ff%22", 404},
		{"GET", "/v1/models/%00%1b", 404},
		{"GET", "/v1beta1/projects/p/locations/l/batchPredictionJobs", 501},
		{"PUT", "/v1/files", 405},
		{"GET", "/v1/files/file-1/nope", 404},
		{"DELETE", "/v1/files/file-1", 404},
		{"POST", "/v1/models", 405},
		{"GET", "/openai/v1/batches", 200},
		{"GET", "/v1beta/openai/models", 200},
		{"GET", "/v1beta/openai/files", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, "http://fake"+tc.path, http.NoBody)
		require.NoError(t, err)
		resp, err := server.Client().Do(req)
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, tc.status, resp.StatusCode, "%s %s: %s", tc.method, tc.path, b)
		assert.True(t, json.Valid(b), "%s", b)
	}
}
