package llmtest

import (
	"bytes"
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

// chatEndpoint is the one endpoint whose batches are answered.
const chatEndpoint = "/v1/chat/completions"

// batch is a job of OpenAI's Batch API.
type batch struct {
	*work
	id       string
	input    string
	metadata json.RawMessage
	ids      []string // custom_id of each request
	errors   []batchError

	// Under the work's turn.
	output, errorFile *string
	written           bool
}

// The shapes of the Batch API.
type (
	batchCreate struct {
		Input    string          `json:"input_file_id"`
		Endpoint string          `json:"endpoint"`
		Window   string          `json:"completion_window"`
		Metadata json.RawMessage `json:"metadata"`
	}
	batchLine struct {
		CustomID *string         `json:"custom_id"`
		Method   *string         `json:"method"`
		URL      *string         `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	batchError struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Param   *string `json:"param"`
		Line    *int    `json:"line"` // from 1
	}
	batchErrors struct {
		Object string       `json:"object"`
		Data   []batchError `json:"data"`
	}
	batchCounts struct {
		Total     int `json:"total"`
		Completed int `json:"completed"`
		Failed    int `json:"failed"`
	}
	batchObject struct {
		ID         string          `json:"id"`
		Object     string          `json:"object"`
		Endpoint   string          `json:"endpoint"`
		Errors     *batchErrors    `json:"errors"`
		Input      string          `json:"input_file_id"`
		Window     string          `json:"completion_window"`
		Status     string          `json:"status"`
		Output     *string         `json:"output_file_id"`
		ErrorFile  *string         `json:"error_file_id"`
		Created    int64           `json:"created_at"`
		InProgress *int64          `json:"in_progress_at"`
		Expires    int64           `json:"expires_at"`
		Finalizing *int64          `json:"finalizing_at"`
		Completed  *int64          `json:"completed_at"`
		Failed     *int64          `json:"failed_at"`
		Expired    *int64          `json:"expired_at"`
		Cancelling *int64          `json:"cancelling_at"`
		Cancelled  *int64          `json:"cancelled_at"`
		Counts     batchCounts     `json:"request_counts"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	outputLine struct {
		ID       string          `json:"id"`
		CustomID string          `json:"custom_id"`
		Response *outputResponse `json:"response"`
		Error    *outputError    `json:"error"`
	}
	outputResponse struct {
		Status    int             `json:"status_code"`
		RequestID string          `json:"request_id"`
		Body      json.RawMessage `json:"body"`
	}
	outputError struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
)

// serveBatches answers …/batches, …/batches/{id} and …/batches/{id}/cancel, and
// Gemini's jobs.
func (s *Server) serveBatches(w http.ResponseWriter, r *http.Request) {
	switch {
	case has(r.URL.Path, "batchPredictionJobs"):
		refuse(w, r, http.StatusNotImplemented, "llmtest has no batch jobs of Vertex AI: they read and write buckets")
		return
	case apiOf(r.URL.Path) == Gemini:
		s.serveJobs(w, r)
		return
	}
	_, rest, one := cutPath(r.URL.Path, "/batches")
	id, verb, _ := strings.Cut(rest, "/")
	switch {
	case !one && r.Method == http.MethodPost:
		s.createBatch(w, r)
	case !one && r.Method == http.MethodGet:
		s.listBatches(w, r)
	case one && verb == "" && r.Method == http.MethodGet, one && verb == "cancel" && r.Method == http.MethodPost:
		s.store.mu.Lock()
		i := slices.IndexFunc(s.store.batches, func(b *batch) bool { return b.id == id })
		var b *batch
		if i >= 0 {
			b = s.store.batches[i]
		}
		s.store.mu.Unlock()
		if b == nil {
			refuse(w, r, http.StatusNotFound, fmt.Sprintf("No batch found with id '%s'.", id))
			return
		}
		s.showBatch(w, r, b, verb == "cancel")
	case one && verb != "" && verb != "cancel":
		refuse(w, r, http.StatusNotFound, "no such path")
	default:
		refuse(w, r, http.StatusMethodNotAllowed, "no such method here: "+r.Method)
	}
}

func (s *Server) createBatch(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, r, http.StatusBadRequest, "the body cannot be read: "+err.Error())
		}
		return
	}
	var in batchCreate
	if err := json.Unmarshal(body, &in); err != nil {
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("the body is no batch: %v", err))
		return
	}
	f := s.store.file(in.Input)
	switch {
	case in.Endpoint != chatEndpoint:
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("endpoint is %q; llmtest answers batches of %s only", in.Endpoint, chatEndpoint))
		return
	case in.Window != "24h":
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("completion_window is %q; it must be 24h", in.Window))
		return
	case f == nil:
		refuse(w, r, http.StatusBadRequest, "No such File object: "+in.Input)
		return
	case f.purpose != "batch":
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("the file's purpose is %q; it must be batch", f.purpose))
		return
	}
	if msg := badMetadata(in.Metadata); msg != "" {
		refuse(w, r, http.StatusBadRequest, msg)
		return
	}
	ids, bodies, errs := readBatch(f.content, in.Endpoint, s.Batches.maxLines())
	before, _, _ := cutPath(r.URL.Path, "/batches")
	target := &url.URL{Scheme: "http", Host: "batch", Path: before + "/chat/completions", RawQuery: r.URL.RawQuery}
	var requests []workRequest
	for _, b := range bodies {
		requests = append(requests, workRequest{url: target, header: r.Header, body: b})
	}
	b := &batch{input: in.Input, metadata: in.Metadata, ids: ids, errors: errs}
	s.store.mu.Lock()
	b.id = s.store.id("batch_")
	b.work = newWork(s.Batches, 24*time.Hour, b.id, requests)
	s.store.batches = append(s.store.batches, b)
	s.store.mu.Unlock()
	// What was created is told as it was then, even where a job needs no time.
	answerJSON(w, r, b.object("validating", b.created.Add(-1)))
}

// badMetadata says what is wrong with a batch's metadata; "" for nothing.
func badMetadata(raw json.RawMessage) string {
	var m map[string]string
	if len(raw) > 0 && json.Unmarshal(raw, &m) != nil {
		return "metadata must be an object of texts"
	}
	if len(m) > 16 {
		return fmt.Sprintf("metadata has %d pairs; it may have 16", len(m))
	}
	for k, v := range m {
		if len(k) > 64 || len(v) > 512 {
			return fmt.Sprintf("metadata %.64q is too long: keys have at most 64 characters, values 512", k)
		}
	}
	return ""
}

// readBatch reads the lines of a batch's file. Where it finds errors the batch
// fails.
func readBatch(content []byte, endpoint string, most int) (ids []string, bodies []json.RawMessage, errs []batchError) {
	lines := bytes.Split(bytes.TrimRight(content, "\r\n"), []byte("\n"))
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, nil, []batchError{{Code: "empty_file", Message: "The file has no requests."}}
	}
	if len(lines) > most {
		return nil, nil, []batchError{{Code: "too_many_tasks", Message: fmt.Sprintf("The file has %d requests; it may have %d.", len(lines), most)}}
	}
	seen := map[string]int{}
	model := ""
	for i, raw := range lines {
		n := i + 1
		fault := func(code, param, format string, args ...any) {
			e := batchError{Code: code, Message: fmt.Sprintf(format, args...), Line: &n}
			if param != "" {
				e.Param = &param
			}
			errs = append(errs, e)
		}
		var line batchLine
		if err := json.Unmarshal(raw, &line); err != nil {
			fault("invalid_json_line", "", "This line is not parseable as valid JSON.")
			continue
		}
		if name := line.missing(); name != "" {
			fault("missing_required_parameter", name, "Missing required parameter: '%s'.", name)
			continue
		}
		var body struct {
			Model string `json:"model"`
		}
		switch err := json.Unmarshal(line.Body, &body); {
		case err != nil || line.Body[0] != '{':
			fault("invalid_request", "body", "The body is no object.")
		case *line.Method != http.MethodPost:
			fault("invalid_method", "method", "The method is '%s'; it must be POST.", *line.Method)
		case *line.URL != endpoint:
			fault("url_mismatch", "url", "The URL '%s' is not the batch's endpoint, '%s'.", *line.URL, endpoint)
		case seen[*line.CustomID] > 0:
			fault("duplicate_custom_id", "custom_id", "The custom_id '%s' is that of line %d too.", *line.CustomID, seen[*line.CustomID])
		case model != "" && body.Model != model:
			fault("model_mismatch", "body.model", "The model '%s' is not that of the lines before, '%s'.", body.Model, model)
		default:
			ids, bodies = append(ids, *line.CustomID), append(bodies, line.Body)
			model = body.Model
		}
		seen[*line.CustomID] = max(seen[*line.CustomID], n)
	}
	return ids, bodies, errs
}

// missing is the first field that a line lacks, "" for none.
func (l batchLine) missing() string {
	switch {
	case l.CustomID == nil || *l.CustomID == "":
		return "custom_id"
	case l.Method == nil:
		return "method"
	case l.URL == nil:
		return "url"
	case len(l.Body) == 0 || string(l.Body) == "null":
		return "body"
	}
	return ""
}

// showBatch moves the batch to where it should be, cancels it if asked to, and
// tells of it.
func (s *Server) showBatch(w http.ResponseWriter, r *http.Request, b *batch, cancel bool) {
	if !b.lock(r) {
		return
	}
	defer b.unlock()
	now := time.Now()
	if cancel && (b.failedBy(now) || !b.cancel(now)) {
		refuse(w, r, http.StatusConflict, fmt.Sprintf("Cannot cancel a batch with status '%s'.", b.status(now)))
		return
	}
	s.moveBatch(b, now)
	answerJSON(w, r, b.object(b.status(now), now))
}

// failedBy reports whether validation has found the errors by now: it was not
// stopped before, by anybody or by the window's end.
func (b *batch) failedBy(now time.Time) bool {
	at := b.validated()
	return len(b.errors) > 0 && !now.Before(at) && !b.expires.Before(at) && (b.cancelAt.IsZero() || !b.cancelAt.Before(at))
}

// moveBatch answers what is due and writes the files of a batch that is over.
func (s *Server) moveBatch(b *batch, now time.Time) {
	if len(b.errors) > 0 {
		return
	}
	b.advance(s, now)
	if !b.phase(now).over() || b.written {
		return
	}
	b.written = true
	var good, bad [][]byte
	for k, i := range b.order {
		line := outputLine{ID: "batch_req_" + b.id + "_" + strconv.Itoa(i+1), CustomID: b.ids[i]}
		ok := false
		switch {
		case k >= len(b.answers) && b.cancelAt.IsZero():
			line.Error = &outputError{"batch_expired", "This request could not be executed before the completion window expired."}
		case k >= len(b.answers):
			line.Error = &outputError{"batch_cancelled", "The batch was cancelled before this request was executed."}
		case b.answers[k].status == 0:
			line.Error = &outputError{"request_timeout", "The model did not answer in time."}
		default:
			a := b.answers[k]
			ok = a.status < 300
			line.Response = &outputResponse{Status: a.status, RequestID: "req_" + b.id + "_" + strconv.Itoa(i+1), Body: a.body}
		}
		raw, err := json.Marshal(line)
		if err != nil {
			panic(fmt.Sprintf("llmtest: %v", err)) // answers are valid JSON
		}
		if ok {
			good = append(good, raw)
		} else {
			bad = append(bad, raw)
		}
	}
	b.output = s.store.write(b.id+"_output.jsonl", good, now)
	b.errorFile = s.store.write(b.id+"_error.jsonl", bad, now)
}

func (b *batch) status(now time.Time) string {
	if b.failedBy(now) {
		return "failed"
	}
	return map[phase]string{
		validating: "validating", running: "in_progress", finalizing: "finalizing", completed: "completed",
		expired: "expired", cancelling: "cancelling", cancelled: "cancelled",
	}[b.phase(now)]
}

// object tells of the batch as it is at now.
func (b *batch) object(status string, now time.Time) batchObject {
	o := batchObject{
		ID: b.id, Object: "batch", Endpoint: chatEndpoint, Input: b.input, Window: "24h", Status: status,
		Output: b.output, ErrorFile: b.errorFile, Created: b.created.Unix(), Expires: b.expires.Unix(), Metadata: b.metadata,
	}
	if b.failedBy(now) {
		o.Errors = &batchErrors{Object: "list", Data: b.errors}
		o.Failed = unix(b.validated())
		return o
	}
	stop := now // no state begins after the job was stopped
	for _, t := range []time.Time{b.cancelAt, b.expires} {
		if !t.IsZero() && t.Before(stop) {
			stop = t
		}
	}
	if !stop.Before(b.validated()) {
		o.InProgress = unix(b.validated())
		o.Counts = batchCounts{Total: len(b.requests), Completed: b.completed, Failed: b.failed}
	}
	switch p := b.phase(now); p {
	case completed:
		o.Completed = unix(b.finished())
		fallthrough
	case finalizing:
		o.Finalizing = unix(b.answered())
	case expired:
		o.Expired = unix(b.expires)
	case cancelled:
		o.Cancelled = unix(b.cancelAt.Add(b.cfg.Cancelling))
		fallthrough
	case cancelling:
		o.Cancelling = unix(b.cancelAt)
	}
	return o
}

func unix(t time.Time) *int64 { return new(t.Unix()) }

// listBatches lists the newest first.
func (s *Server) listBatches(w http.ResponseWriter, r *http.Request) {
	s.store.mu.Lock()
	batches := slices.Clone(s.store.batches)
	s.store.mu.Unlock()
	slices.Reverse(batches)
	ids := make([]string, len(batches))
	for i, b := range batches {
		ids[i] = b.id
	}
	page, ok := openaiPage(w, r, ids, 100, 20)
	if !ok {
		return
	}
	now := time.Now()
	objects := make([]batchObject, len(batches))
	for i := page.from; i < page.to; i++ {
		b := batches[i]
		if !b.lock(r) {
			return
		}
		s.moveBatch(b, now)
		objects[i] = b.object(b.status(now), now)
		b.unlock()
	}
	answerJSON(w, r, newPage(ids, page, func(i int) batchObject { return objects[i] }))
}
