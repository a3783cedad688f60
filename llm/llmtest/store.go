package llmtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A store is what a [Server] keeps: files and batch jobs. The zero value works.
type store struct {
	mu      sync.Mutex
	n       int // ids given so far
	files   []*file
	batches []*batch
	jobs    []*job
}

// id gives a new id. The lock must be held.
func (s *store) id(prefix string) string {
	s.n++
	return fmt.Sprintf("%s%d", prefix, s.n)
}

// answerJSON answers 200 with v.
func answerJSON(w http.ResponseWriter, r *http.Request, v any) {
	sendJSON(w, apiOf(r.URL.Path), http.StatusOK, v)
}

// refuse answers with an error in the API's words.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	problem{status: status, typ: "invalid_request_error", message: message}.write(w, apiOf(r.URL.Path))
}

// cutPath cuts a path behind its last folder of this name: /v1/files/x/content
// is "/v1", "x/content", true; /v1/files is "/v1", "", false.
func cutPath(path, folder string) (before, rest string, found bool) {
	path = strings.TrimSuffix(path, "/")
	i := strings.LastIndex(path+"/", folder+"/")
	if i < 0 {
		return path, "", false
	}
	before, rest = path[:i], strings.TrimPrefix(path[i+len(folder):], "/")
	return before, rest, rest != ""
}

// openaiPage cuts a list, newest first, by the query: after (an id), limit and
// order. It answers by itself if they cannot be meant.
func openaiPage(w http.ResponseWriter, r *http.Request, ids []string, most, usual int) (page span, ok bool) {
	q := r.URL.Query()
	limit := usual
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > most {
			refuse(w, r, http.StatusBadRequest, fmt.Sprintf("Invalid 'limit': %q; it must be a number of 1 to %d", v, most))
			return span{}, false
		}
		limit = n
	}
	from := 0
	if after := q.Get("after"); after != "" {
		i := slices.Index(ids, after)
		if i < 0 {
			refuse(w, r, http.StatusBadRequest, fmt.Sprintf("Invalid 'after': there is no %q in the list", after))
			return span{}, false
		}
		from = i + 1
	}
	return span{from, min(from+limit, len(ids))}, true
}
