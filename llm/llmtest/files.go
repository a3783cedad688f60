package llmtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The limits of uploads and batches, as OpenAI states them.
const (
	maxBatchBytes = 200 << 20
	maxFileBytes  = 512 << 20
	maxBatchLines = 50_000
	maxFilePage   = 10_000
)

// file is one uploaded or written file.
type file struct {
	id, name, purpose string
	created           time.Time
	content           []byte
}

type fileObject struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Bytes    int    `json:"bytes"`
	Created  int64  `json:"created_at"`
	Filename string `json:"filename"`
	Purpose  string `json:"purpose"`
	Status   string `json:"status"`
}

func (f *file) object() fileObject {
	return fileObject{ID: f.id, Object: "file", Bytes: len(f.content), Created: f.created.Unix(), Filename: f.name, Purpose: f.purpose, Status: "processed"}
}

// pageObject is a list with a cursor.
type pageObject[T any] struct {
	Object  string  `json:"object"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

func newPage[T any](ids []string, page span, object func(i int) T) pageObject[T] {
	list := pageObject[T]{Object: "list", Data: []T{}, HasMore: page.to < len(ids)}
	for i := page.from; i < page.to; i++ {
		list.Data = append(list.Data, object(i))
	}
	if page.from < page.to {
		list.FirstID, list.LastID = &ids[page.from], &ids[page.to-1]
	}
	return list
}

// serveFiles answers …/files, …/files/{id} and …/files/{id}/content.
func (s *Server) serveFiles(w http.ResponseWriter, r *http.Request) {
	_, rest, one := cutPath(r.URL.Path, "/files")
	id, verb, _ := strings.Cut(rest, "/")
	switch {
	case !one && r.Method == http.MethodPost:
		s.upload(w, r)
	case !one && r.Method == http.MethodGet:
		s.listFiles(w, r)
	case one && verb == "" && r.Method == http.MethodGet:
		if f := s.findFile(w, r, id); f != nil {
			answerJSON(w, r, f.object())
		}
	case one && verb == "" && r.Method == http.MethodDelete:
		s.deleteFile(w, r, id)
	case one && verb == "content" && r.Method == http.MethodGet:
		if f := s.findFile(w, r, id); f != nil {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(f.content) // a caller that is gone needs no answer
		}
	case one && verb != "" && verb != "content":
		refuse(w, r, http.StatusNotFound, "no such path")
	default:
		refuse(w, r, http.StatusMethodNotAllowed, "no such method here: "+r.Method)
	}
}

// upload stores a file that comes as a form.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFileBytes+1<<20)
	f, status, err := readUpload(r, s.Batches.maxBytes())
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, r, status, err.Error())
		}
		return
	}
	s.store.mu.Lock()
	f.id, f.created = s.store.id("file-"), time.Now()
	s.store.files = append(s.store.files, f)
	s.store.mu.Unlock()
	answerJSON(w, r, f.object())
}

var purposes = []string{"assistants", "batch", "fine-tune", "vision", "user_data", "evals"}

// readUpload reads a multipart form of a purpose and a file, and returns the
// status to refuse it with. maxBatch is the most bytes of a file for a batch.
func readUpload(r *http.Request, maxBatch int64) (*file, int, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, http.StatusBadRequest, fmt.Errorf("the content type is %q; it must be multipart/form-data with a boundary", r.Header.Get("Content-Type"))
	}
	form := multipart.NewReader(r.Body, params["boundary"])
	var f file
	found := false
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, formStatus(err), fmt.Errorf("the form cannot be read: %v", err)
		}
		name := part.FormName()
		if name != "purpose" && name != "file" {
			continue // expires_after and the like are not kept
		}
		b, err := io.ReadAll(io.LimitReader(part, maxFileBytes+1))
		switch {
		case err != nil:
			return nil, formStatus(err), fmt.Errorf("the form's field %q cannot be read: %v", name, err)
		case name == "purpose":
			f.purpose = string(b)
		case found:
			return nil, http.StatusBadRequest, errors.New("the form has two fields \"file\"; it must have one")
		default:
			found, f.name, f.content = true, part.FileName(), b
		}
	}
	switch most := maxFileBytes; {
	case !found:
		return nil, http.StatusBadRequest, errors.New("the form has no field \"file\"")
	case !slices.Contains(purposes, f.purpose):
		return nil, http.StatusBadRequest, fmt.Errorf("purpose is %q; it must be one of %s", f.purpose, strings.Join(purposes, ", "))
	case len(f.content) == 0:
		return nil, http.StatusBadRequest, errors.New("the file is empty")
	case f.purpose == "batch" && int64(len(f.content)) > maxBatch:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the file is longer than the %d bytes that a batch's file may have", maxBatch)
	case len(f.content) > most:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the file is longer than %d bytes", most)
	case f.purpose == "batch" && !strings.HasSuffix(f.name, ".jsonl"):
		return nil, http.StatusBadRequest, fmt.Errorf("the file's name is %q; a batch's file must end in .jsonl", f.name)
	}
	return &f, 0, nil
}

// formStatus is the status to refuse a form with that could not be read.
func formStatus(err error) int {
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// listFiles lists the newest first.
func (s *Server) listFiles(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	order := q.Get("order")
	if order != "" && order != "asc" && order != "desc" {
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("Invalid 'order': %q; it must be asc or desc", order))
		return
	}
	s.store.mu.Lock()
	files := slices.Clone(s.store.files)
	s.store.mu.Unlock()
	if p := q.Get("purpose"); p != "" {
		files = slices.DeleteFunc(files, func(f *file) bool { return f.purpose != p })
	}
	if order != "asc" {
		slices.Reverse(files)
	}
	ids := make([]string, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	page, ok := openaiPage(w, r, ids, maxFilePage, maxFilePage)
	if ok {
		answerJSON(w, r, newPage(ids, page, func(i int) fileObject { return files[i].object() }))
	}
}

// file returns a file, nil if there is none. Files never change.
func (s *store) file(id string) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.id == id {
			return f
		}
	}
	return nil
}

// findFile answers by itself if there is no such file.
func (s *Server) findFile(w http.ResponseWriter, r *http.Request, id string) *file {
	f := s.store.file(id)
	if f == nil {
		refuse(w, r, http.StatusNotFound, "No such File object: "+id)
	}
	return f
}

func (s *Server) deleteFile(w http.ResponseWriter, r *http.Request, id string) {
	if s.findFile(w, r, id) == nil {
		return
	}
	s.store.mu.Lock()
	s.store.files = slices.DeleteFunc(s.store.files, func(f *file) bool { return f.id == id })
	s.store.mu.Unlock()
	answerJSON(w, r, map[string]any{"id": id, "object": "file", "deleted": true})
}

// write keeps a file that a batch has made, and returns its id; "" for no
// lines.
func (s *store) write(name string, lines [][]byte, now time.Time) *string {
	if len(lines) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &file{id: s.id("file-"), name: name, purpose: "batch_output", created: now, content: append(bytes.Join(lines, []byte("\n")), '\n')}
	s.files = append(s.files, f)
	return &f.id
}
