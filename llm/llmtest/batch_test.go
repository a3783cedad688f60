package llmtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

// sdkOf is go-openai's client of server.
func sdkOf(server *llmtest.Server) *goopenai.Client {
	cfg := goopenai.DefaultConfig("k")
	cfg.BaseURL, cfg.HTTPClient = "http://fake/v1", server.Client()
	return goopenai.NewClientWithConfig(cfg)
}

func question(text string) goopenai.ChatCompletionRequest {
	return goopenai.ChatCompletionRequest{Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: text}}}
}

// questions are a batch's file; the custom id of a question is "id " and its
// text.
func questions(texts ...string) goopenai.UploadBatchFileRequest {
	var r goopenai.UploadBatchFileRequest
	for _, text := range texts {
		r.AddChatCompletion("id "+text, question(text))
	}
	return r
}

// outLine is a line of an output or error file.
type outLine struct {
	ID       string `json:"id"`
	CustomID string `json:"custom_id"`
	Response *struct {
		Status    int             `json:"status_code"`
		RequestID string          `json:"request_id"`
		Body      json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
}

func readFile(t *testing.T, c *goopenai.Client, id *string) []outLine {
	t.Helper()
	if id == nil {
		return nil
	}
	raw, err := c.GetFileContent(t.Context(), *id)
	require.NoError(t, err)
	defer raw.Close()
	b, err := io.ReadAll(raw)
	require.NoError(t, err)
	var out []outLine
	for line := range strings.Lines(string(b)) {
		var o outLine
		require.NoError(t, json.Unmarshal([]byte(line), &o), "%s", line)
		out = append(out, o)
	}
	return out
}

func idsOf(lines []outLine) []string {
	var ids []string
	for _, l := range lines {
		ids = append(ids, l.CustomID)
	}
	return ids
}

// odd answers some questions badly.
func odd(c llmtest.Chat) llmtest.Reply {
	switch c.Last() {
	case "bad":
		return llmtest.Reply{Raw: llmtest.Status(400, `{"error":{"message":"no"}}`)}
	case "html":
		return llmtest.Reply{Raw: llmtest.HTML(502, "<html>Bad Gateway</html>")}
	case "reset":
		return llmtest.Reply{Raw: llmtest.Reset()}
	case "hang":
		return llmtest.Reply{Raw: llmtest.Hang}
	case "cut":
		return llmtest.Reply{Raw: llmtest.Status(200, `{"id":`)}
	}
	return llmtest.Reply{Text: "You said " + c.Last(), FirstToken: time.Hour}
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{
			Reply: odd, Limits: llmtest.Limits{RPM: 1},
			Batches: llmtest.Batches{Validating: time.Minute, Running: 10 * time.Minute, Finalizing: time.Minute},
		}
		c := sdkOf(server)
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, Metadata: map[string]any{"run": "7"},
			UploadBatchFileRequest: questions("a", "b", "c", "d", "e", "bad", "html", "reset", "cut", "hang"),
		})
		require.NoError(t, err)
		start := time.Now()
		assert.Equal(t, "validating", b.Status)
		assert.Equal(t, map[string]any{"run": "7"}, b.Metadata)
		assert.Equal(t, start.Add(24*time.Hour).Unix(), int64(*b.ExpiresAt))

		look := func(at time.Duration) goopenai.BatchResponse {
			<-time.After(time.Until(start.Add(at)))
			b, err := c.RetrieveBatch(t.Context(), b.ID)
			require.NoError(t, err)
			return b
		}
		assert.Equal(t, "validating", look(59*time.Second).Status)
		now := look(time.Minute)
		assert.Equal(t, "in_progress", now.Status)
		assert.Equal(t, goopenai.BatchRequestCounts{Total: 10}, now.RequestCounts)
		now = look(4*time.Minute + time.Second)
		assert.Equal(t, 3, now.RequestCounts.Completed+now.RequestCounts.Failed, "a line a minute")
		assert.Nil(t, now.OutputFileID)
		assert.Equal(t, "finalizing", look(11*time.Minute+2*time.Second).Status)
		now = look(12*time.Minute + 2*time.Second)
		assert.Equal(t, "completed", now.Status)
		assert.Equal(t, goopenai.BatchRequestCounts{Total: 10, Completed: 5, Failed: 5}, now.RequestCounts)
		assert.Equal(t, []int64{60, 660, 720}, since(start, now.InProgressAt, now.FinalizingAt, now.CompletedAt))
		assert.Nil(t, now.Errors)

		out := readFile(t, c, now.OutputFileID)
		assert.ElementsMatch(t, []string{"id a", "id b", "id c", "id d", "id e"}, idsOf(out))
		assert.NotEqual(t, []string{"id a", "id b", "id c", "id d", "id e"}, idsOf(out), "the order is another")
		for _, l := range out {
			require.NotNil(t, l.Response)
			assert.Nil(t, l.Error)
			assert.Equal(t, 200, l.Response.Status)
			var body goopenai.ChatCompletionResponse
			require.NoError(t, json.Unmarshal(l.Response.Body, &body))
			assert.Equal(t, "You said "+strings.TrimPrefix(l.CustomID, "id "), body.Choices[0].Message.Content)
			assert.Equal(t, 3, body.Usage.CompletionTokens)
		}
		want := map[string]int{"id bad": 400, "id html": 502, "id reset": 500, "id cut": 500, "id hang": 0}
		for _, l := range readFile(t, c, now.ErrorFileID) {
			status, ok := want[l.CustomID]
			require.True(t, ok, l.CustomID)
			delete(want, l.CustomID)
			if status == 0 {
				assert.Nil(t, l.Response)
				assert.Equal(t, "request_timeout", l.Error.Code)
				continue
			}
			assert.Nil(t, l.Error, "a refusal is a response, not an error")
			assert.Equal(t, status, l.Response.Status)
			assert.Contains(t, string(l.Response.Body), `"error"`)
		}
		assert.Empty(t, want)
		assert.Equal(t, 10, server.Counts().Calls, "each line is answered once, however often one looks")
		assert.Zero(t, server.Counts().Limited, "limits are those of live calls")
	})
}

func since(start time.Time, stamps ...*int) []int64 {
	var out []int64
	for _, s := range stamps {
		if s == nil {
			out = append(out, -1)
			continue
		}
		out = append(out, int64(*s)-start.Unix())
	}
	return out
}

// TestBatchAnswersAsLive: nobody can tell a line's answer from a live one's.
func TestBatchAnswersAsLive(t *testing.T) {
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Reasoning: "hm", Text: "You said " + c.Last()}
	}}
	c := sdkOf(server)
	b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
		Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a"),
	})
	require.NoError(t, err)
	assert.Equal(t, "validating", b.Status, "what was created has not been looked at")
	b, err = c.RetrieveBatch(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, "completed", b.Status, "the zero value needs no time")
	out := readFile(t, c, b.OutputFileID)
	require.Len(t, out, 1)
	var line goopenai.ChatCompletionResponse
	require.NoError(t, json.Unmarshal(out[0].Response.Body, &line))
	live, err := c.CreateChatCompletion(t.Context(), question("a"))
	require.NoError(t, err)
	assert.Equal(t, live.Choices, line.Choices)
	assert.Equal(t, live.Usage, line.Usage)
	assert.Equal(t, live.Model, line.Model)
	assert.Nil(t, b.ErrorFileID, "no errors, no file")
}

func TestBatchIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{Batches: llmtest.Batches{Running: 4 * time.Minute, Cancelling: time.Minute}}
		c := sdkOf(server)
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a", "b", "c", "d"),
		})
		require.NoError(t, err)
		start := time.Now()
		<-time.After(150 * time.Second)
		b, err = c.CancelBatch(t.Context(), b.ID)
		require.NoError(t, err)
		assert.Equal(t, "cancelling", b.Status)
		assert.Nil(t, b.OutputFileID)
		<-time.After(time.Minute)
		b, err = c.RetrieveBatch(t.Context(), b.ID)
		require.NoError(t, err)
		assert.Equal(t, "cancelled", b.Status)
		assert.Equal(t, goopenai.BatchRequestCounts{Total: 4, Completed: 2}, b.RequestCounts)
		assert.Equal(t, []int64{150, 210}, since(start, b.CancellingAt, b.CancelledAt))
		assert.Len(t, readFile(t, c, b.OutputFileID), 2, "what there is is kept")
		lost := readFile(t, c, b.ErrorFileID)
		require.Len(t, lost, 2)
		assert.Equal(t, "batch_cancelled", lost[0].Error.Code)
		assert.Equal(t, 2, server.Counts().Calls, "nothing is billed that is not answered")
		_, err = c.CancelBatch(t.Context(), b.ID)
		assert.NoError(t, err, "twice is once")
	})
}

func TestBatchCannotBeCancelled(t *testing.T) {
	c := sdkOf(new(llmtest.Server))
	b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
		Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a"),
	})
	require.NoError(t, err)
	_, err = c.CancelBatch(t.Context(), b.ID)
	assert.ErrorContains(t, err, "Cannot cancel a batch with status 'completed'")
	_, err = c.CancelBatch(t.Context(), "batch_99")
	assert.ErrorContains(t, err, "No batch found with id 'batch_99'.")
}

func TestBatchExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{Batches: llmtest.Batches{Running: 40 * time.Hour}}
		c := sdkOf(server)
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a", "b", "c", "d"),
		})
		require.NoError(t, err)
		start := time.Now()
		<-time.After(24*time.Hour - time.Second)
		b, err = c.RetrieveBatch(t.Context(), b.ID)
		require.NoError(t, err)
		assert.Equal(t, "in_progress", b.Status)
		<-time.After(100 * time.Hour)
		b, err = c.RetrieveBatch(t.Context(), b.ID)
		require.NoError(t, err)
		assert.Equal(t, "expired", b.Status)
		assert.Equal(t, []int64{24 * 3600, -1, -1}, since(start, b.ExpiredAt, b.CompletedAt, b.FinalizingAt))
		assert.Len(t, readFile(t, c, b.OutputFileID), 2)
		lost := readFile(t, c, b.ErrorFileID)
		require.Len(t, lost, 2)
		assert.Equal(t, "batch_expired", lost[0].Error.Code)
		assert.Nil(t, lost[0].Response)
	})
}

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
		{"no JSON", "", good + "\n{\"custom_id\":\n" + `nope`, []fault{{"invalid_json_line", "", 2}, {"invalid_json_line", "", 3}}},
		{"blank line in the middle", "a line is a request", good + "\n\n" + strings.Replace(good, `"1"`, `"2"`, 1), []fault{{"invalid_json_line", "", 2}}},
		{"the same id twice", "answers could not be told apart", good + "\n" + good, []fault{{"duplicate_custom_id", "custom_id", 2}}},
		{"no id", "", strings.Replace(good, `"custom_id":"1",`, "", 1), []fault{{"missing_required_parameter", "custom_id", 1}}},
		{"an id that is a number", "it must be a text", strings.Replace(good, `"1"`, `1`, 1), []fault{{"invalid_json_line", "", 1}}},
		{"an empty id", "", strings.Replace(good, `"1"`, `""`, 1), []fault{{"missing_required_parameter", "custom_id", 1}}},
		{"no method", "", strings.Replace(good, `"method":"POST",`, "", 1), []fault{{"missing_required_parameter", "method", 1}}},
		{"another method", "", strings.Replace(good, "POST", "GET", 1), []fault{{"invalid_method", "method", 1}}},
		{"no url", "", strings.Replace(good, `"url":"/v1/chat/completions",`, "", 1), []fault{{"missing_required_parameter", "url", 1}}},
		{"another url", "a batch has one endpoint", strings.Replace(good, "/v1/chat", "/chat", 1), []fault{{"url_mismatch", "url", 1}}},
		{"no body", "", strings.Replace(good, `"body"`, `"bodi"`, 1), []fault{{"missing_required_parameter", "body", 1}}},
		{"a body that is no object", "", `{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":[1]}`, []fault{{"invalid_request", "body", 1}}},
		{"another model", "a batch has one model", good + "\n" + strings.NewReplacer(`"1"`, `"2"`, `"m"`, `"n"`).Replace(good), []fault{{"model_mismatch", "body.model", 2}}},
		{"nothing but white space", "", " \n\n", []fault{{"empty_file", "", 0}}},
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

// TestBatchDoesNotStream: a stream cannot stand in a line.
func TestBatchDoesNotStream(t *testing.T) {
	server := new(llmtest.Server)
	c := sdkOf(server)
	q := question("a")
	q.Stream = true
	var up goopenai.UploadBatchFileRequest
	up.AddChatCompletion("1", q)
	b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
		Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: up,
	})
	require.NoError(t, err)
	b, err = c.RetrieveBatch(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Nil(t, b.OutputFileID)
	out := readFile(t, c, b.ErrorFileID)
	require.Len(t, out, 1)
	assert.Equal(t, 400, out[0].Response.Status)
	assert.Contains(t, string(out[0].Response.Body), "Streaming is not supported in batches.")
	assert.Zero(t, server.Counts().Calls)
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

// TestBatchTakesLineEnds: the last line may end, and lines may end as on
// Windows.
func TestBatchTakesLineEnds(t *testing.T) {
	c := sdkOf(new(llmtest.Server))
	up := questions("a", "b")
	file := strings.ReplaceAll(string(up.MarshalJSONL()), "\n", "\r\n") + "\r\n"
	f, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte(file), Purpose: goopenai.PurposeBatch})
	require.NoError(t, err)
	b, err := c.CreateBatch(t.Context(), goopenai.CreateBatchRequest{InputFileID: f.ID, Endpoint: goopenai.BatchEndpointChatCompletions})
	require.NoError(t, err)
	b, err = c.RetrieveBatch(t.Context(), b.ID)
	require.NoError(t, err)
	assert.Equal(t, "completed", b.Status)
	assert.Equal(t, 2, b.RequestCounts.Completed)
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

func TestBatchList(t *testing.T) {
	c := sdkOf(new(llmtest.Server))
	var want []string
	for range 5 {
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a"),
		})
		require.NoError(t, err)
		want = append([]string{b.ID}, want...) // the newest first
	}
	var got []string
	var after *string
	for range 10 {
		page, err := c.ListBatch(t.Context(), after, new(2))
		require.NoError(t, err)
		for _, b := range page.Data {
			got = append(got, b.ID)
			assert.Equal(t, "completed", b.Status, "looking at the list is looking at its jobs")
		}
		if after = &page.LastID; !page.HasMore {
			break
		}
	}
	assert.Equal(t, want, got)
	_, err := c.ListBatch(t.Context(), nil, new(101))
	assert.ErrorContains(t, err, "Invalid 'limit'")
	_, err = c.ListBatch(t.Context(), new("batch_99"), nil)
	assert.ErrorContains(t, err, "Invalid 'after'")
}

// TestBatchManyLook: lines are answered once, whoever looks when; and a caller
// that gives up does not wait for another's look.
func TestBatchManyLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
			<-time.After(100 * time.Millisecond) // a slow script
			return llmtest.Reply{Text: c.Last()}
		}}
		c := sdkOf(server)
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a", "b", "c", "d"),
		})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				got, err := c.RetrieveBatch(t.Context(), b.ID)
				assert.NoError(t, err)
				assert.Equal(t, 4, got.RequestCounts.Completed)
			})
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := c.RetrieveBatch(ctx, b.ID)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 50*time.Millisecond, time.Since(start))
		})
		wg.Wait()
		server.Memory().Wait()
		assert.Equal(t, 4, server.Counts().Calls)
	})
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
