package call

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// Classify returns what err means. It is for errors that are no *llm.Error, as
// an application's own SDK returns them; of one that is, or wraps one, it
// returns that one. nil for nil. What is looked at, the first that says
// something:
//
//  1. A context's end: canceled, timeout.
//  2. An HTTP status from 400 to 599 in the error's tree: a method StatusCode,
//     HTTPStatusCode or HTTPCode that returns an int, or an exported int field
//     StatusCode, HTTPStatusCode, HTTPStatus, Status or Code. With it the
//     server's own code and words (exported fields Code, Type, Status, Message,
//     Details, Body; a method RawJSON), because an empty account answers 429
//     too, and how long it asks to wait (exported fields Header or Response).
//     What they mean is in [wire.ErrorKind] and [wire.StatusKind]: 429
//     rate_limit; 401, 403 auth; 402 balance; 404 not_found; 408, 409, 425 and
//     5xx server; other 4xx bad_request.
//  3. The error's type: a timeout of package net, a connection that was
//     refused, reset or not found, a certificate, an answer that ended early.
//  4. The text, if no error of the tree has a type of its own (errors.New and
//     fmt.Errorf make such): "429", "rate limit", "too many requests", "quota
//     exceeded", each as whole words. What stands in quotes counts only if it
//     is JSON with an error in it: it may be a model's words.
//
// Everything else is [llm.KindUnknown]. err itself is the cause in the
// result, with keys masked in its text, and is not changed: SDKs and
// applications may share one error among calls.
func Classify(err error) *llm.Error {
	if err == nil {
		return nil
	}
	var known *llm.Error
	if errors.As(err, &known) {
		return known
	}
	out := &llm.Error{Kind: llm.KindUnknown, Err: wire.MaskError(err)}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		out.Kind = llm.KindOf(err)
	case readStatus(err, out):
	case byType(err, out):
	case untyped(err) && saysRateLimit(err.Error()):
		out.Kind = llm.KindRateLimit
	}
	return out
}

// walk calls f with every error of err's tree, the outermost first, until it
// returns true.
func walk(err error, f func(error) bool) bool {
	if err == nil || f(err) {
		return err != nil
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), f)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if walk(inner, f) {
				return true
			}
		}
	}
	return false
}

// byType classifies what the network and the standard library report.
func byType(err error, out *llm.Error) bool {
	var timeout net.Error
	var unknownCA x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		out.Kind = llm.KindTimeout
	case errors.As(err, &cert), errors.As(err, &unknownCA), errors.As(err, &invalid), errors.As(err, &host):
		out.Kind, out.Hint = llm.KindConnection, "the server's certificate is not trusted here: see the base URL, the proxy and the system's certificates"
	case errors.As(err, &record):
		out.Kind, out.Hint = llm.KindConnection, "the server does not speak TLS there: see whether the base URL must begin with http://"
	case errors.Is(err, io.ErrUnexpectedEOF):
		out.Kind = llm.KindIncomplete
	case errors.As(err, &op), errors.As(err, &dns), errors.As(err, &alert),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed), errors.Is(err, wire.ErrStale):
		out.Kind = llm.KindConnection
	default:
		return false
	}
	return true
}

// nothingSent reports an error of a call that never reached a server.
func nothingSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.Is(err, syscall.ECONNREFUSED)
}

// readStatus classifies by the first error of the tree that has a status.
func readStatus(err error, out *llm.Error) bool {
	return walk(err, func(e error) bool {
		s := readShape(e)
		if s.status == 0 {
			return false
		}
		out.Status, out.Kind = s.status, wire.ErrorKind(s.status, s.body)
		out.Code = cut(wire.Mask(s.code), maxCode)
		if wait, ok := wire.Wait(s.status, s.header, s.body, time.Now()); ok {
			out.RetryAfter = &wait
		}
		out.RateLimit = wire.RateLimits(s.header, time.Now())
		return true
	})
}

const maxCode = 128

// rateLimitWords are believed of errors without type and status.
var rateLimitWords = regexp.MustCompile(`(?i)\b(?:429|rate[ -]?limit(?:s|ed|ing|_exceeded)?|too many requests|quota exceeded)\b`)

// quoted is what %q makes of a text.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

func saysRateLimit(text string) bool {
	if i := strings.IndexByte(text, '{'); i >= 0 {
		if body := []byte(text[i:]); json.Valid(body) && wire.ReadError(body) != (wire.ErrorBody{}) {
			return wire.ErrorKind(200, body) == llm.KindRateLimit || saysRateLimit(text[:i])
		}
	}
	return rateLimitWords.MatchString(quoted.ReplaceAllString(text, `""`))
}

// untypedPackages make errors whose type says nothing.
var untypedPackages = map[string]bool{"errors": true, "fmt": true, "github.com/pkg/errors": true, "golang.org/x/xerrors": true}

func untyped(err error) bool {
	return !walk(err, func(e error) bool {
		t := reflect.TypeOf(e)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return !untypedPackages[t.PkgPath()]
	})
}
