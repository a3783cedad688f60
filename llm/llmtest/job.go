package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxInline is the most bytes of a job's body, as Google states it.
const maxInline = 20 << 20

// job is a job of Gemini's Batch API.
type job struct {
	*work
	name     string // batches/…
	display  string
	model    string // models/…
	metadata []json.RawMessage
}

// The shapes of the Batch API. Names come in both of protobuf's spellings.
type (
	jobCreate struct {
		Batch struct {
			Display  string    `json:"displayName"`
			Display2 string    `json:"display_name"`
			Input    *jobInput `json:"inputConfig"`
			Input2   *jobInput `json:"input_config"`
		} `json:"batch"`
	}
	jobInput struct {
		File     string `json:"fileName"`
		File2    string `json:"file_name"`
		Requests struct {
			Requests []jobRequest `json:"requests"`
		} `json:"requests"`
	}
	jobRequest struct {
		Request  json.RawMessage `json:"request"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	operation struct {
		Name     string        `json:"name"`
		Metadata jobState      `json:"metadata"`
		Done     bool          `json:"done,omitempty"`
		Error    *googleStatus `json:"error,omitempty"`
		Response *jobOutput    `json:"response,omitempty"`
	}
	jobState struct {
		Type    string     `json:"@type"`
		Model   string     `json:"model"`
		Display string     `json:"displayName"`
		Created string     `json:"createTime"`
		Ended   string     `json:"endTime,omitempty"`
		Updated string     `json:"updateTime"`
		Stats   jobStats   `json:"batchStats"`
		State   string     `json:"state"`
		Name    string     `json:"name"`
		Output  *jobOutput `json:"output,omitempty"`
	}
	// Counts are texts, as protobuf's JSON has it for 64 bits.
	jobStats struct {
		Count   string `json:"requestCount"`
		Pending string `json:"pendingRequestCount,omitempty"`
		Good    string `json:"successfulRequestCount,omitempty"`
		Failed  string `json:"failedRequestCount,omitempty"`
	}
	jobOutput struct {
		Type      string `json:"@type,omitempty"`
		Responses struct {
			Responses []inlined `json:"inlinedResponses"`
		} `json:"inlinedResponses"`
	}
	inlined struct {
		Response json.RawMessage `json:"response,omitempty"`
		Error    *googleStatus   `json:"error,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
	}
	// googleStatus is google.rpc.Status: its code is none of HTTP's.
	googleStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	jobList struct {
		Operations []operation `json:"operations"`
		Next       string      `json:"nextPageToken,omitempty"`
	}
)

// serveJobs answers models/{model}:batchGenerateContent, batches, batches/{id}
// and batches/{id}:cancel.
func (s *Server) serveJobs(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ":batchGenerateContent") {
		s.createJob(w, r)
		return
	}
	_, rest, one := cutPath(r.URL.Path, "/batches")
	id, verb, _ := strings.Cut(rest, ":")
	if !one {
		s.listJobs(w, r)
		return
	}
	s.store.mu.Lock()
	i := slices.IndexFunc(s.store.jobs, func(j *job) bool { return j.name == "batches/"+id })
	var j *job
	if i >= 0 {
		j = s.store.jobs[i]
	}
	s.store.mu.Unlock()
	switch {
	case j == nil:
		refuse(w, r, http.StatusNotFound, "Requested entity was not found: batches/"+id)
	case verb == "" && r.Method == http.MethodGet:
		if o, ok := s.lookAt(r, j); ok {
			answerJSON(w, r, o)
		}
	case verb == "" && r.Method == http.MethodDelete:
		s.store.mu.Lock()
		s.store.jobs = slices.DeleteFunc(s.store.jobs, func(other *job) bool { return other == j })
		s.store.mu.Unlock()
		answerJSON(w, r, struct{}{})
	case verb == "cancel" && r.Method == http.MethodPost:
		s.cancelJob(w, r, j)
	default:
		refuse(w, r, http.StatusMethodNotAllowed, "no such method here: "+r.Method+" "+verb)
	}
}

func (s *Server) createJob(w http.ResponseWriter, r *http.Request) {
	most := s.Batches.MaxBytes
	if most <= 0 {
		most = maxInline
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return // the caller has gone
	}
	var in jobCreate
	input := &jobInput{}
	err = json.Unmarshal(body, &in)
	if err == nil {
		input = cmp.Or(in.Batch.Input, in.Batch.Input2, input)
	}
	requests := input.Requests.Requests
	switch {
	case int64(len(body)) > most:
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", most))
		return
	case err != nil:
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("the body is no batch: %v", err))
		return
	case input.File != "" || input.File2 != "":
		refuse(w, r, http.StatusBadRequest, "llmtest answers inline requests only, not file_name")
		return
	case len(requests) == 0:
		refuse(w, r, http.StatusBadRequest, "batch.input_config.requests is empty")
		return
	case len(requests) > s.Batches.maxLines():
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("the batch has %d requests; it may have %d", len(requests), s.Batches.maxLines()))
		return
	}
	before, rest, _ := cutPath(r.URL.Path, "/models")
	model := strings.TrimSuffix(rest, ":batchGenerateContent")
	j := &job{display: cmp.Or(in.Batch.Display, in.Batch.Display2), model: "models/" + model}
	var all []workRequest
	for i, q := range requests {
		var own struct {
			Model string `json:"model"`
		}
		if json.Unmarshal(q.Request, &own) != nil {
			refuse(w, r, http.StatusBadRequest, fmt.Sprintf("requests[%d].request is no object", i))
			return
		}
		to := cmp.Or(strings.TrimPrefix(own.Model, "models/"), model)
		u := &url.URL{Scheme: "http", Host: "batch", Path: before + "/models/" + to + ":generateContent", RawQuery: r.URL.RawQuery}
		all = append(all, workRequest{url: u, header: r.Header, body: q.Request})
		j.metadata = append(j.metadata, q.Metadata)
	}
	s.store.mu.Lock()
	j.name = s.store.id("batches/")
	cfg := s.Batches
	cfg.Finalizing = 0
	j.work = newWork(cfg, 48*time.Hour, j.name, all)
	s.store.jobs = append(s.store.jobs, j)
	s.store.mu.Unlock()
	// What was created is told as it was then, even where a job needs no time.
	answerJSON(w, r, j.operation(j.created, validating))
}

// lookAt moves the job to where it should be, and tells of it; false if the
// caller has gone.
func (s *Server) lookAt(r *http.Request, j *job) (operation, bool) {
	if !j.lock(r) {
		return operation{}, false
	}
	defer j.unlock()
	now := time.Now()
	j.advance(s, now)
	return j.operation(now, j.phase(now)), true
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request, j *job) {
	if !j.lock(r) {
		return
	}
	defer j.unlock()
	now := time.Now()
	j.advance(s, now)
	if !j.cancel(now) {
		refuse(w, r, http.StatusBadRequest, "the batch has ended and cannot be cancelled: "+j.name)
		return
	}
	answerJSON(w, r, struct{}{})
}

func (s *Server) listJobs(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		refuse(w, r, http.StatusMethodNotAllowed, "no such method here: "+r.Method)
		return
	}
	s.store.mu.Lock()
	jobs := slices.Clone(s.store.jobs)
	s.store.mu.Unlock()
	slices.Reverse(jobs) // the newest first
	page, next, ok := googlePage(w, r, len(jobs))
	if !ok {
		return
	}
	list := jobList{Operations: []operation{}, Next: next}
	for _, j := range jobs[page.from:page.to] {
		o, ok := s.lookAt(r, j)
		if !ok {
			return
		}
		o.Response, o.Metadata.Output = nil, nil // told by get only
		list.Operations = append(list.Operations, o)
	}
	answerJSON(w, r, list)
}

var jobStates = map[phase]string{
	validating: "BATCH_STATE_PENDING", running: "BATCH_STATE_RUNNING", cancelling: "BATCH_STATE_RUNNING",
	completed: "BATCH_STATE_SUCCEEDED", expired: "BATCH_STATE_EXPIRED", cancelled: "BATCH_STATE_CANCELLED",
}

// operation tells of the job as it is at now. The output stands in it twice,
// as in Google's.
func (j *job) operation(now time.Time, p phase) operation {
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	o := operation{Name: j.name, Metadata: jobState{
		Type:  "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
		Model: j.model, Display: j.display, Created: stamp(j.created), Updated: stamp(now), State: jobStates[p], Name: j.name,
		Stats: jobStats{Count: strconv.Itoa(len(j.requests)), Pending: count(len(j.requests) - len(j.answers)), Good: count(j.completed), Failed: count(j.failed)},
	}}
	o.Done = p.over()
	switch p {
	case completed:
		o.Metadata.Ended = stamp(j.finished())
		out := j.output()
		o.Metadata.Output, o.Response = &out, &out
	case expired:
		o.Metadata.Ended = stamp(j.expires)
		o.Error = &googleStatus{Code: 4, Message: "The batch expired before it was completed."}
	case cancelled:
		o.Metadata.Ended = stamp(j.cancelAt.Add(j.cfg.Cancelling))
		o.Error = &googleStatus{Code: 1, Message: "The batch was cancelled."}
	}
	return o
}

// output has the responses in the order of the requests.
func (j *job) output() jobOutput {
	var out jobOutput
	all := make([]inlined, len(j.requests))
	for k, i := range j.order {
		a := j.answers[k]
		if a.status >= 200 && a.status < 300 {
			all[i].Response = a.body
		} else {
			all[i].Error = statusOf(a)
		}
		if !j.cfg.DropMetadata {
			all[i].Metadata = j.metadata[i]
		}
	}
	out.Responses.Responses = all
	return out
}

// statusOf is an answer that is none, as google.rpc.Status.
func statusOf(a workAnswer) *googleStatus {
	var in struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(a.body, &in) // without a message the code tells
	code, ok := map[int]int{0: 4, 400: 3, 401: 16, 403: 7, 404: 5, 409: 10, 429: 8, 499: 1, 500: 13, 501: 12, 503: 14, 504: 4}[a.status]
	if !ok {
		code = 2
	}
	return &googleStatus{Code: code, Message: cmp.Or(in.Error.Message, http.StatusText(a.status), "Deadline expired before operation could complete.")}
}
