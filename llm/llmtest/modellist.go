package llmtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The shapes of lists of models, of both APIs.
type (
	modelObject struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	modelList struct {
		Object string        `json:"object"`
		Data   []modelObject `json:"data"`
	}
	googleModel struct {
		Name        string   `json:"name"`
		Version     string   `json:"version"`
		DisplayName string   `json:"displayName"`
		InputLimit  int      `json:"inputTokenLimit"`
		OutputLimit int      `json:"outputTokenLimit"`
		Methods     []string `json:"supportedGenerationMethods"`
	}
	googleModelList struct {
		Models []googleModel `json:"models"`
		Next   string        `json:"nextPageToken,omitempty"`
	}
)

// fallbackModel is listed where [Server.Models] is empty.
const fallbackModel = "llmtest"

// serveModels answers GET …/models and …/models/{id} of both APIs.
func (s *Server) serveModels(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		refuse(w, r, http.StatusMethodNotAllowed, "the models can be read only: use GET")
		return
	}
	ids := s.Models
	if len(ids) == 0 {
		ids = []string{fallbackModel}
	}
	_, id, one := cutPath(r.URL.Path, "/models")
	google := apiOf(r.URL.Path) == Gemini
	switch {
	case one && !slices.Contains(ids, id):
		refuse(w, r, http.StatusNotFound, fmt.Sprintf("the model %q does not exist", id))
	case one && google:
		answerJSON(w, r, googleModelOf(id))
	case one:
		answerJSON(w, r, modelOf(id))
	case google:
		listGoogleModels(w, r, ids)
	default:
		list := modelList{Object: "list"}
		for _, id := range ids {
			list.Data = append(list.Data, modelOf(id))
		}
		answerJSON(w, r, list)
	}
}

func modelOf(id string) modelObject {
	return modelObject{ID: id, Object: "model", Created: 1700000000, OwnedBy: "llmtest"}
}

func googleModelOf(id string) googleModel {
	return googleModel{
		Name: "models/" + id, Version: "001", DisplayName: id, InputLimit: 1 << 20, OutputLimit: 1 << 16,
		Methods: []string{"generateContent", "countTokens", "batchGenerateContent"},
	}
}

func listGoogleModels(w http.ResponseWriter, r *http.Request, ids []string) {
	page, next, ok := googlePage(w, r, len(ids))
	if !ok {
		return
	}
	list := googleModelList{Models: []googleModel{}, Next: next}
	for _, id := range ids[page.from:page.to] {
		list.Models = append(list.Models, googleModelOf(id))
	}
	answerJSON(w, r, list)
}

// A span is a part of a list.
type span struct{ from, to int }

// googlePage reads pageSize (default 50) and pageToken, the place where the
// last page ended. It answers by itself if they cannot be meant.
func googlePage(w http.ResponseWriter, r *http.Request, n int) (page span, next string, ok bool) {
	q := r.URL.Query()
	size, err := strconv.Atoi(cmp.Or(q.Get("pageSize"), "50"))
	if err != nil || size < 0 {
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("page_size is %q; it must be a number of at least 1", q.Get("pageSize")))
		return span{}, "", false
	}
	from, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(q.Get("pageToken"), "after-"), "0"))
	if err != nil || from < 0 || from > n {
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("page_token is %q, which no page gave", q.Get("pageToken")))
		return span{}, "", false
	}
	page = span{from, min(from+max(size, 1), n)}
	if page.to < n {
		next = "after-" + strconv.Itoa(page.to)
	}
	return page, next, true
}
