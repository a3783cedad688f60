package llmtest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// sdk is Google's own client, so that the fake is held against what the
// provider's SDK reads.
func sdk(t *testing.T, hc *http.Client, root string, vertex bool) *genai.Client {
	t.Helper()
	cfg := &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: "k", HTTPClient: hc, HTTPOptions: genai.HTTPOptions{BaseURL: root}}
	if vertex {
		cfg.Backend, cfg.APIKey, cfg.Project, cfg.Location = genai.BackendVertexAI, "", "p", "global"
	}
	c, err := genai.NewClient(context.Background(), cfg)
	require.NoError(t, err)
	return c
}

func TestGeminiBySDK(t *testing.T) {
	for _, vertex := range []bool{false, true} {
		s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
			assert.Equal(t, []llmtest.ChatMessage{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "six times three"}}, c.Messages)
			assert.Equal(t, llmtest.Gemini, c.API)
			assert.Equal(t, "gemini-m", c.Model)
			assert.Equal(t, 50, c.MaxTokens)
			return llmtest.Reply{
				Reasoning: "Maybe 17?", Text: "The answer is 18.",
				ToolCalls: []llm.ToolCall{{ID: "c1", Name: "add", Arguments: `{"a":1}`}},
			}
		}}
		c := sdk(t, http.DefaultClient, s.StartRoot(t), vertex)
		cfg := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser), MaxOutputTokens: 50}
		resp, err := c.Models.GenerateContent(t.Context(), "gemini-m", genai.Text("six times three"), cfg)
		require.NoError(t, err)
		u := resp.UsageMetadata
		assert.Equal(t, []int32{5, 4, 2, 11}, []int32{u.PromptTokenCount, u.CandidatesTokenCount, u.ThoughtsTokenCount, u.TotalTokenCount}, "thoughts come on top")
		require.Len(t, resp.Candidates, 1)
		parts := resp.Candidates[0].Content.Parts
		require.Len(t, parts, 3)
		assert.True(t, parts[0].Thought)
		assert.Equal(t, "The answer is 18.", parts[1].Text)
		assert.Equal(t, map[string]any{"a": 1.0}, parts[2].FunctionCall.Args)
		assert.Equal(t, genai.FinishReasonStop, resp.Candidates[0].FinishReason)
		assert.Equal(t, "gemini-m", resp.ModelVersion)

		text, thoughts, n := "", "", 0
		for chunk, err := range c.Models.GenerateContentStream(t.Context(), "gemini-m", genai.Text("six times three"), cfg) {
			require.NoError(t, err)
			n++
			for _, p := range chunk.Candidates[0].Content.Parts {
				if p.Thought {
					thoughts += p.Text
				} else {
					text += p.Text
				}
			}
			assert.EqualValues(t, min(n, 6), chunk.UsageMetadata.CandidatesTokenCount+chunk.UsageMetadata.ThoughtsTokenCount, "usage so far, in each chunk")
			resp = chunk
		}
		assert.Equal(t, "The answer is 18.", text)
		assert.Equal(t, "Maybe 17?", thoughts)
		assert.Equal(t, genai.FinishReasonStop, resp.Candidates[0].FinishReason)
		assert.Equal(t, 2, s.Counts().ByAPI[llmtest.Gemini])
	}
}
