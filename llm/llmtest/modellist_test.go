package llmtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm/llmtest"
)

// genaiOf is Google's client of server.
func genaiOf(t *testing.T, server *llmtest.Server) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: "k", HTTPClient: server.Client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: "http://fake"},
	})
	require.NoError(t, err)
	return c
}

func TestModelsOfOpenAI(t *testing.T) {
	c := sdkOf(&llmtest.Server{Models: []string{"m", "org/big"}})
	list, err := c.ListModels(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Models, 2)
	assert.Equal(t, "org/big", list.Models[1].ID)
	for _, id := range []string{"m", "org/big"} { // ids of vLLM have slashes
		m, err := c.GetModel(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, id, m.ID)
		assert.Equal(t, "model", m.Object)
	}
	_, err = c.GetModel(t.Context(), "other")
	assert.ErrorContains(t, err, `the model "other" does not exist`)

	list, err = sdkOf(new(llmtest.Server)).ListModels(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Models, 1)
	assert.Equal(t, "llmtest", list.Models[0].ID)
}

func TestModelsOfGemini(t *testing.T) {
	c := genaiOf(t, &llmtest.Server{Models: []string{"a", "b", "c"}})
	var got []string
	page, err := c.Models.List(t.Context(), &genai.ListModelsConfig{PageSize: 2})
	for ; err == nil; page, err = page.Next(t.Context()) {
		for _, m := range page.Items {
			got = append(got, m.Name)
		}
	}
	assert.ErrorIs(t, err, genai.ErrPageDone)
	assert.Equal(t, []string{"models/a", "models/b", "models/c"}, got)
	m, err := c.Models.Get(t.Context(), "b", nil)
	require.NoError(t, err)
	assert.Equal(t, "models/b", m.Name)
	assert.Contains(t, m.SupportedActions, "generateContent")
	_, err = c.Models.Get(t.Context(), "other", nil)
	var e genai.APIError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 404, e.Code)
	assert.Equal(t, "NOT_FOUND", e.Status)
	for _, query := range []string{"pageSize=x", "pageSize=-1", "pageToken=x", "pageToken=after-9"} {
		status, body := get(t, &llmtest.Server{}, "/v1beta/models?"+query)
		assert.Equal(t, 400, status, "%s: %s", query, body)
	}
}
