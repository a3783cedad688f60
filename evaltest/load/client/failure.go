package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// How much of a failed answer is read, and how much of a text or a name that a
// server gave is kept, in bytes.
const (
	maxErrorBody = 64 << 10
	maxMessage   = 600
	maxName      = 256
)

// cut cuts a text between characters. Mask keys before: half a key is not found.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
	}
	return s
}

// fail makes a failure whose message shows no key.
func (c *Client) fail(class record.Class, secrets []string, format string, args ...any) *record.Failure {
	return &record.Failure{Class: class, Message: cut(wire.Mask(fmt.Sprintf(format, args...), secrets...), maxMessage)}
}

// secretsOf are the keys of one call.
func (c *Client) secretsOf(req *http.Request) []string {
	if req == nil {
		return c.secrets
	}
	return append(wire.Secrets(req), c.secrets...)
}

// interrupted is the failure of a try whose context ended, nil if it did not:
// either the caller's, or by the watchdog.
func (c *Client) interrupted(ctx context.Context, w *watchdog) *record.Failure {
	if why := w.verdict.Load(); why != nil {
		switch why.class {
		case record.TimeoutFirst:
			return &record.Failure{Class: why.class, Message: fmt.Sprintf("no fragment came within %v (Timeouts.First)", why.limit)}
		case record.TimeoutIdle:
			return &record.Failure{Class: why.class, Message: fmt.Sprintf("nothing came for %v after a fragment (Timeouts.Idle)", why.limit)}
		case record.TimeoutTotal:
			return &record.Failure{Class: why.class, Message: fmt.Sprintf("the answer was not complete within %v (Timeouts.Total)", why.limit)}
		}
	}
	if ctx.Err() != nil {
		return c.fail(record.Canceled, c.secrets, "given up by the caller: %v", context.Cause(ctx))
	}
	return nil
}

// sendFailure is why no header came. Without a connection it was the dialling,
// whose errors say so, or else the handshake.
func (c *Client) sendFailure(req *http.Request, h *hooks, err error) *record.Failure {
	secrets := c.secretsOf(req)
	switch reused, got := h.reused.Load(), h.connected.Load() > 0; {
	case !got && isTLS(req, err):
		return c.fail(record.TLS, secrets, "the TLS handshake failed: %v%s", err, tlsHint(err))
	case !got:
		return c.fail(record.Connect, secrets, "no connection: %v%s", err, connectHint(err))
	case reused && !h.answered.Load() && (!c.cfg.HTTP2 || closed(err)):
		return c.fail(record.Stale, secrets, "the server closed a connection kept from an earlier call before any of the answer came: %v", err)
	case closed(err):
		return c.fail(record.Truncated, secrets, "the server closed a new connection before the answer's header was whole: %v", err)
	}
	return c.fail(record.Malformed, secrets, "the answer is no HTTP: %v", err)
}

func isTLS(req *http.Request, err error) bool {
	if req.URL.Scheme != "https" {
		return false
	}
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect") {
		return false
	}
	return !errors.As(err, new(*dialError))
}

func tlsHint(err error) string {
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &cert):
		return "; give the server's own authority in Config.TLS"
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"), errors.As(err, new(tls.RecordHeaderError)):
		return "; a server without TLS needs http:// before its host"
	}
	return ""
}

func connectHint(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "; raise the limit of open files (ulimit -n), or run fewer at once"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; there is no free local port left: run fewer at once"
	}
	return ""
}

// closed reports whether err says that the other side has ended the connection.
func closed(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true
	}
	var op *net.OpError // Winsock has numbers of its own
	// net/http exports no error for a connection that went while it was idle, nor
	// for one over HTTP/2 that the server is closing.
	return errors.As(err, &op) && !op.Timeout() || strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "GOAWAY")
}

// statusFailure is what an answer with a status that is no success means. It
// reads the body.
func (c *Client) statusFailure(req *http.Request, resp *http.Response, out *outcome) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came before it broke is all there is
	said := wire.ReadError(body)
	kind := said.Kind(resp.StatusCode)
	out.asked = -1
	if wait, ok := wire.Wait(resp.StatusCode, resp.Header, body, time.Now()); ok {
		out.asked = wait
	}
	text := errorText(said, body)
	if at := resp.Header.Get("Location"); resp.StatusCode < 400 && at != "" {
		if text != "" {
			text += "; "
		}
		text += "redirects are not followed: it names " + at
	}
	class := record.Malformed
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		class = record.RateLimited
		out.hopeless = kind == llm.KindBalance || kind == llm.KindQuota || kind == llm.KindContext
	// A code tells this apart where there is one. vLLM and others have only a
	// sentence, and a plain 400: wire.ErrorBody asks the words after code and
	// status have said nothing, and of such a status only.
	case s >= 400 && kind == llm.KindContext:
		class = record.Context
	case s >= 500:
		class, out.hopeless = record.Server, hopelessStatus(s)
	case s >= 400:
		class = record.Rejected
	}
	out.failure = c.fail(class, c.secretsOf(req), "HTTP %d%s", resp.StatusCode, text)
}

// errorText is what a failed answer says, code first, to be put behind what is
// said of it.
func errorText(said wire.ErrorBody, body []byte) string {
	text := ""
	for _, code := range []string{said.Code, said.Type, said.Status, said.Reason} {
		if code != "" {
			text = " [" + code + "]"
			break
		}
	}
	if said.Message != "" {
		return text + ": " + said.Message
	}
	plain := bytes.TrimSpace(body)
	if len(plain) > 0 && plain[0] == '<' {
		return text + ": a page of HTML"
	}
	if len(plain) > 0 {
		return text + ": " + string(plain)
	}
	return text
}

// carried is the failure of an answer that began well and carries an error.
func (c *Client) carried(req *http.Request, data []byte, inStream bool) *record.Failure {
	said := wire.ReadError(data)
	class := record.InStream
	if said.Kind(http.StatusOK) == llm.KindContext {
		class = record.Context
	}
	where := "an error in the answer"
	if inStream {
		where = "an error in the stream"
	}
	return c.fail(class, c.secretsOf(req), "%s%s", where, errorText(said, data))
}
