package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/llm/wire"
)

// version is the format's. A reader refuses every other one.
const version = 1

type header struct {
	Version int `json:"evals_cassette"`
}

// entry is one recorded call, one line of the file.
type entry struct {
	Item   string `json:"item,omitempty"` // that asked first; not part of the key
	Sample int    `json:"sample,omitempty"`
	N      int    `json:"n,omitempty"` // which of an item's equal requests, from 0
	Method string `json:"method"`
	Host   string `json:"host,omitempty"`
	Path   string `json:"path"` // with the query, key parameters removed
	// Request is a JSON body in canonical form; a body of another kind is in
	// Plain.
	Request json.RawMessage `json:"request,omitempty"`
	Plain   []byte          `json:"request_base64,omitempty"`
	Status  int             `json:"status"`
	Header  http.Header     `json:"header,omitempty"`
	// Body is the answer's; one that is not UTF-8 is in Bytes.
	Body  text   `json:"body,omitempty"`
	Bytes []byte `json:"body_base64,omitempty"`
	// At are pairs of a length and the milliseconds after which that much of
	// the body had come. Total is when it had ended.
	At    [][2]float64 `json:"at,omitempty"`
	Total float64      `json:"total_ms"`

	slot  `json:"-"`
	usual slot   // the slot of the same request in the usual spelling
	canon []byte // canonical body, or the plain one
	plain []byte // canon in the usual spelling, without what is ignored
	body  []byte
	marks []wire.Mark
	line  int
	used  bool
}

// finish checks an entry that was read and computes what is not stored.
func (e *entry) finish() error {
	if e.Method == "" || e.Path == "" || e.Status < 100 || e.Status > 999 || e.Sample < 0 || e.N < 0 {
		return fmt.Errorf("method %q, path %q, status %d, sample %d and n %d are not those of a call", e.Method, e.Path, e.Status, e.Sample, e.N)
	}
	if e.Request != nil {
		canon, ok := canonical(e.Request, nil)
		if !ok {
			return fmt.Errorf("the request is not JSON in UTF-8")
		}
		e.Request, e.canon = canon, canon
	} else {
		e.canon = e.Plain
	}
	e.Path = withoutAccount(e.Path)
	e.body = e.Body
	if e.Bytes != nil {
		e.body = e.Bytes
	}
	e.Body, e.Bytes = nil, nil // one name is enough
	prev := wire.Mark{}
	for _, a := range e.At {
		m := wire.Mark{End: int(a[0]), At: fromMS(a[1])}
		if float64(m.End) != a[0] || m.End < prev.End || m.End > len(e.body) || m.At < prev.At {
			return fmt.Errorf("its times %v are not those of a body of %d bytes", a, len(e.body))
		}
		e.marks = append(e.marks, m)
		prev = m
	}
	e.At = nil
	return nil
}

// line is the entry as the file has it, with its newline.
func (e *entry) encode() ([]byte, error) {
	out := *e
	if utf8.Valid(e.body) {
		out.Body = e.body
	} else {
		out.Bytes = e.body
	}
	for _, m := range e.marks {
		out.At = append(out.At, [2]float64{float64(m.End), toMS(m.At)})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// text is a JSON string that is kept as bytes: bodies are long, and are read
// as bytes.
type text []byte

// UnmarshalJSON makes the only copy.
func (t *text) UnmarshalJSON(b []byte) error {
	var err error
	*t, err = jsontext.AppendUnquote(nil, b)
	return err
}

// MarshalJSON writes what a string is written as.
func (t text) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(string(t))
	return b.Bytes(), err
}

func toMS(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }

func fromMS(ms float64) time.Duration {
	if !(ms >= 0) || ms > 1e12 {
		return -1
	}
	return time.Duration(math.Round(ms * 1e6))
}

func (e *entry) sameAnswer(o *entry) bool {
	return e.Status == o.Status && bytes.Equal(e.body, o.body)
}

// response is the recorded answer to req.
func (e *entry) response(req *http.Request) *http.Response {
	h := e.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)), StatusCode: e.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, ContentLength: int64(len(e.body)), Request: req,
		Body: wire.NewRecorded(e.body, e.marks, fromMS(e.Total)),
	}
}

func (e *entry) describe() Unused {
	u := Unused{Line: e.line, Item: e.Item, Sample: e.Sample, N: e.N, Method: e.Method, Path: e.Path}
	var body struct {
		Model    string `json:"model"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Contents []struct { // Gemini's
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"contents"`
	}
	_ = json.Unmarshal(e.canon, &body) // other bodies show their beginning
	u.Model = body.Model
	if m := modelInPath.FindStringSubmatch(e.Path); u.Model == "" && m != nil {
		u.Model = m[1]
	}
	u.Request = string(e.canon)
	if n := len(body.Messages); n > 0 {
		u.Request = string(body.Messages[n-1].Content)
		var s string
		if json.Unmarshal(body.Messages[n-1].Content, &s) == nil {
			u.Request = s
		}
	} else if n := len(body.Contents); n > 0 {
		var texts []string
		for _, p := range body.Contents[n-1].Parts {
			texts = append(texts, p.Text)
		}
		u.Request = strings.Join(texts, "\n")
	}
	if len(u.Request) > 80 {
		u.Request = strings.ToValidUTF8(u.Request[:80], "") + "…"
	}
	return u
}

// modelInPath is where Gemini's API names the model.
var modelInPath = regexp.MustCompile(`/models/([^/:?]+):`)
