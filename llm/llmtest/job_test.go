package llmtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm/llmtest"
)

func inline(texts ...string) *genai.BatchJobSource {
	src := new(genai.BatchJobSource)
	for _, text := range texts {
		src.InlinedRequests = append(src.InlinedRequests, &genai.InlinedRequest{
			Contents: genai.Text(text), Metadata: map[string]string{"key": "id " + text},
			Config: &genai.GenerateContentConfig{Temperature: new(float32(0))},
		})
	}
	return src
}

func TestJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{
			Reply: odd, Limits: llmtest.Limits{RPM: 1},
			Batches: llmtest.Batches{Validating: time.Minute, Running: 10 * time.Minute, Finalizing: time.Hour},
		}
		c := genaiOf(t, server)
		j, err := c.Batches.Create(t.Context(), "m", inline("a", "bad", "b", "hang", "html"), &genai.CreateBatchJobConfig{DisplayName: "mine"})
		require.NoError(t, err)
		start := time.Now()
		assert.Equal(t, genai.JobStatePending, j.State)
		assert.Equal(t, "mine", j.DisplayName)
		assert.Equal(t, "models/m", j.Model)
		assert.True(t, strings.HasPrefix(j.Name, "batches/"), j.Name)
		assert.True(t, start.Equal(j.CreateTime))
		look := func(at time.Duration) *genai.BatchJob {
			<-time.After(time.Until(start.Add(at)))
			j, err := c.Batches.Get(t.Context(), j.Name, nil)
			require.NoError(t, err)
			return j
		}
		assert.Equal(t, genai.JobStatePending, look(59*time.Second).State)
		assert.Equal(t, genai.JobStateRunning, look(time.Minute).State)
		now := look(6 * time.Minute)
		assert.Equal(t, genai.JobStateRunning, now.State)
		assert.Nil(t, now.Dest)
		now = look(11*time.Minute + 2*time.Second)
		assert.Equal(t, genai.JobStateSucceeded, now.State)
		assert.Equal(t, 11*time.Minute, now.EndTime.Sub(start), "there is no finalizing")
		require.NotNil(t, now.Dest)
		require.Len(t, now.Dest.InlinedResponses, 5)
		var got []string
		for _, r := range now.Dest.InlinedResponses {
			what := ""
			if r.Error != nil {
				what = fmt.Sprint("error ", *r.Error.Code)
			} else {
				what = r.Response.Text()
				assert.EqualValues(t, 3, r.Response.UsageMetadata.CandidatesTokenCount)
			}
			got = append(got, r.Metadata["key"]+": "+what)
		}
		assert.Equal(t, []string{
			"id a: You said a", "id bad: error 3", "id b: You said b", "id hang: error 4", "id html: error 2",
		}, got, "in the order of the requests, with codes of google.rpc")
		assert.Equal(t, 5, server.Counts().Calls)
		assert.Zero(t, server.Counts().Limited)
	})
}

// TestJobAnswersAsLive: nobody can tell a response from a live one.
func TestJobAnswersAsLive(t *testing.T) {
	server := &llmtest.Server{
		Reply:   func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: c.Model + " " + c.Last()} },
		Batches: llmtest.Batches{DropMetadata: true},
	}
	c := genaiOf(t, server)
	src := inline("a", "b")
	src.InlinedRequests[1].Model = "n"
	j, err := c.Batches.Create(t.Context(), "m", src, nil)
	require.NoError(t, err)
	assert.Equal(t, genai.JobStatePending, j.State, "what was created has not been looked at")
	j, err = c.Batches.Get(t.Context(), j.Name, nil)
	require.NoError(t, err)
	assert.Equal(t, genai.JobStateSucceeded, j.State, "the zero value needs no time")
	live, err := c.Models.GenerateContent(t.Context(), "m", genai.Text("a"), nil)
	require.NoError(t, err)
	got := j.Dest.InlinedResponses
	assert.Equal(t, live.Candidates, got[0].Response.Candidates)
	assert.Equal(t, live.UsageMetadata, got[0].Response.UsageMetadata)
	assert.Empty(t, got[0].Metadata, "as has been seen")
	assert.Equal(t, "n b", got[1].Response.Text(), "a request may have a model of its own")
}

func TestJobIsCancelledAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{Batches: llmtest.Batches{Running: 4 * time.Minute, Cancelling: time.Minute}}
		c := genaiOf(t, server)
		j, err := c.Batches.Create(t.Context(), "m", inline("a", "b", "c", "d"), nil)
		require.NoError(t, err)
		<-time.After(150 * time.Second)
		require.NoError(t, c.Batches.Cancel(t.Context(), j.Name, nil))
		got, err := c.Batches.Get(t.Context(), j.Name, nil)
		require.NoError(t, err)
		assert.Equal(t, genai.JobStateRunning, got.State, "it takes its time to stop")
		<-time.After(time.Minute)
		got, err = c.Batches.Get(t.Context(), j.Name, nil)
		require.NoError(t, err)
		assert.Equal(t, genai.JobStateCancelled, got.State)
		assert.Nil(t, got.Dest)
		assert.Equal(t, 2, server.Counts().Calls)
		_, err = c.Batches.Delete(t.Context(), j.Name, nil)
		require.NoError(t, err)
		_, err = c.Batches.Get(t.Context(), j.Name, nil)
		var e genai.APIError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 404, e.Code)
	})
}

func TestJobExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &llmtest.Server{Batches: llmtest.Batches{Running: 100 * time.Hour}}
		c := genaiOf(t, server)
		j, err := c.Batches.Create(t.Context(), "m", inline("a", "b"), nil)
		require.NoError(t, err)
		start := time.Now()
		<-time.After(200 * time.Hour)
		j, err = c.Batches.Get(t.Context(), j.Name, nil)
		require.NoError(t, err)
		assert.Equal(t, genai.JobStateExpired, j.State)
		assert.Equal(t, 48*time.Hour, j.EndTime.Sub(start))
		assert.Nil(t, j.Dest)
		assert.Error(t, c.Batches.Cancel(t.Context(), j.Name, nil), "it has ended")
	})
}

func TestJobList(t *testing.T) {
	server := new(llmtest.Server)
	c := genaiOf(t, server)
	var want []string
	for range 3 {
		j, err := c.Batches.Create(t.Context(), "m", inline("a"), nil)
		require.NoError(t, err)
		want = append([]string{j.Name}, want...)
	}
	var got []string
	page, err := c.Batches.List(t.Context(), &genai.ListBatchJobsConfig{PageSize: 2})
	for ; err == nil; page, err = page.Next(t.Context()) {
		for _, j := range page.Items {
			got = append(got, j.Name)
			assert.Equal(t, genai.JobStateSucceeded, j.State)
		}
	}
	assert.ErrorIs(t, err, genai.ErrPageDone)
	assert.Equal(t, want, got)
}

func TestJobIsRefused(t *testing.T) {
	server := &llmtest.Server{Batches: llmtest.Batches{MaxLines: 2, MaxBytes: 300}}
	for _, tc := range []struct {
		name, body, want string
		status           int
	}{
		{"no JSON", "{", "the body is no batch", 400},
		{"nothing", "{}", "requests is empty", 400},
		{"a file", `{"batch":{"inputConfig":{"fileName":"files/x"}}}`, "inline requests only", 400},
		{"too many", `{"batch":{"input_config":{"requests":{"requests":[{"request":{}},{"request":{}},{"request":{}}]}}}}`, "has 3 requests; it may have 2", 400},
		{"no object", `{"batch":{"input_config":{"requests":{"requests":[{"request":[]}]}}}}`, "requests[0].request is no object", 400},
		{"no request", `{"batch":{"input_config":{"requests":{"requests":[{}]}}}}`, "requests[0].request is no object", 400},
		{"too long", `{"batch":{"display_name":"` + strings.Repeat("x", 300) + `"}}`, "payload size exceeds", 400},
		{"in snake case", `{"batch":{"display_name":"d","input_config":{"requests":{"requests":[{"request":{"contents":[{"parts":[{"text":"q"}]}]}}]}}}}`, `"displayName":"d"`, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := server.Client().Post("http://fake/v1beta/models/m:batchGenerateContent", "application/json", strings.NewReader(tc.body))
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tc.status, resp.StatusCode, "%s", b)
			assert.Contains(t, string(b), tc.want)
		})
	}
	for path, methods := range map[string]map[string]int{
		"/v1beta/batches":          {"PUT": 405},
		"/v1beta/batches/99":       {"GET": 404},
		"/v1beta/batches/1":        {"PUT": 405},
		"/v1beta/batches/1:nope":   {"POST": 405},
		"/v1beta/batches/1:cancel": {"POST": 400},
	} {
		for method, status := range methods {
			req, err := http.NewRequestWithContext(t.Context(), method, "http://fake"+path, http.NoBody)
			require.NoError(t, err)
			resp, err := server.Client().Do(req)
			require.NoError(t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, status, resp.StatusCode, "%s %s: %s", method, path, b)
		}
	}
}
