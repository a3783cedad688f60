package llmtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

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

// TestBatchStaysWhatItIs: a batch that was stopped before its faults were found
// does not fail later.
func TestBatchStaysWhatItIs(t *testing.T) {
	for _, r := range []struct {
		name, want string
		window     time.Duration
		cancel     bool
	}{
		{"cancelled", "cancelled", 0, true},
		{"expired", "expired", time.Minute, false},
		{"failed", "failed", 0, false},
		{"failed as its window ends", "failed", time.Hour, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := sdkOf(&llmtest.Server{Batches: llmtest.Batches{Validating: time.Hour, Running: time.Hour, Window: r.window}})
				f, err := c.CreateFileBytes(t.Context(), goopenai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte("{}"), Purpose: goopenai.PurposeBatch})
				require.NoError(t, err)
				b, err := c.CreateBatch(t.Context(), goopenai.CreateBatchRequest{InputFileID: f.ID, Endpoint: goopenai.BatchEndpointChatCompletions})
				require.NoError(t, err)
				if r.cancel {
					b, err = c.CancelBatch(t.Context(), b.ID)
					require.NoError(t, err)
					assert.Equal(t, "cancelled", b.Status)
				}
				for _, at := range []time.Duration{time.Hour, 2 * time.Hour, 100 * time.Hour} {
					<-time.After(at)
					b, err = c.RetrieveBatch(t.Context(), b.ID)
					require.NoError(t, err)
					assert.Equal(t, r.want, b.Status, "after %v more", at)
					assert.Equal(t, r.want == "failed", b.Errors != nil)
					assert.Nil(t, b.OutputFileID)
				}
			})
		})
	}
}

// TestLongBatch: the times of many lines over many days are not more than 64
// bits hold.
func TestLongBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lines, days = 600, 300
		server := &llmtest.Server{Batches: llmtest.Batches{Running: days * 24 * time.Hour, Window: 400 * 24 * time.Hour}}
		c := sdkOf(server)
		texts := make([]string, lines)
		for i := range texts {
			texts[i] = fmt.Sprint(i)
		}
		b, err := c.CreateBatchWithUploadFile(t.Context(), goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions(texts...),
		})
		require.NoError(t, err)
		for _, part := range []int{0, 1, 2, 3} {
			b, err = c.RetrieveBatch(t.Context(), b.ID)
			require.NoError(t, err)
			assert.Equal(t, part*lines/3, b.RequestCounts.Completed)
			<-time.After(days / 3 * 24 * time.Hour)
		}
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
