package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

type requestLine struct {
	Body  requestBody `json:"body"`
	Input int         `json:"input_tokens,omitempty"`
}

type requestBody struct {
	Model     string           `json:"model,omitempty"`
	Messages  []requestMessage `json:"messages"`
	MaxTokens int              `json:"max_tokens,omitempty"`
}

type requestMessage struct {
	Role string `json:"role"`
	Text string `json:"content"`
}

// WriteRequests writes the rows of a trace that holds texts as a dataset of
// requests, one a line, in order: the body with the whole prompt, with the
// recorded replies in it, and max_tokens if the output's length is known. The
// model may be "". What evaltest/load/workload makes of the lines are requests
// that do not wait for one another; for conversations see [Trace.Plan].
//
// A row without texts, or with a reply that only the server will say, is
// [ErrNoText]; the lines before it have then been written.
func (t *Trace) WriteRequests(w io.Writer, model string) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range t.rows {
		r := &t.rows[i].Row
		line := requestLine{Body: requestBody{Model: model, MaxTokens: r.Output}, Input: r.Input}
		for _, m := range r.Messages {
			if m.Live && m.Text == "" {
				out.Flush()
				return &LineError{t.rep.File, r.Line, fmt.Errorf("%w: a message is the server's reply; use Plan", ErrNoText)}
			}
			line.Body.Messages = append(line.Body.Messages, requestMessage{string(m.Role), m.Text})
		}
		if r.Messages == nil {
			out.Flush()
			return &LineError{t.rep.File, r.Line, fmt.Errorf("%w: %s holds lengths only; use Plan", ErrNoText, t.rep.Kind)}
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
