package llmtest_test

import (
	"context"
	"encoding/json"
	"io"
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

		goodLines(t, readFile(t, c, now.OutputFileID))
		badLines(t, readFile(t, c, now.ErrorFileID))
		assert.Equal(t, 10, server.Counts().Calls, "each line is answered once, however often one looks")
		assert.Zero(t, server.Counts().Limited, "limits are those of live calls")
	})
}

// goodLines checks the output of odd.
func goodLines(t *testing.T, out []outLine) {
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
}

// badLines checks what odd answers badly.
func badLines(t *testing.T, out []outLine) {
	want := map[string]int{"id bad": 400, "id html": 502, "id reset": 500, "id cut": 500, "id hang": 0}
	for _, l := range out {
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

// TestBatchTellsOfPanics: what a function of the test panics with stands in the
// line's answer.
func TestBatchTellsOfPanics(t *testing.T) {
	c := sdkOf(&llmtest.Server{Tokens: func(string) int { panic("my mistake") }})
	b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
		Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a"),
	})
	require.NoError(t, err)
	b, err = c.RetrieveBatch(t.Context(), b.ID)
	require.NoError(t, err)
	out := readFile(t, c, b.ErrorFileID)
	require.Len(t, out, 1)
	assert.Equal(t, 500, out[0].Response.Status)
	assert.Contains(t, string(out[0].Response.Body), "the handler panicked: my mistake")
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
