package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// looked is how many bytes of a file are looked at to tell its kind.
const looked = 64 << 10

// detect tells the kind of a file by what it begins with. It consumes a byte
// order mark and nothing else.
func detect(br *bufio.Reader, want Kind) (Kind, error) {
	head, err := br.Peek(looked)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	k, bad := recognise(br, head, want)
	if bad != nil && err != nil {
		return "", err // what could not be read explains it
	}
	return k, bad
}

func recognise(br *bufio.Reader, head []byte, want Kind) (Kind, error) {
	if bytes.HasPrefix(head, byteOrderMark) {
		br.Discard(len(byteOrderMark))
		head = head[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(head)) == 0 && len(head) < looked-len(byteOrderMark) {
		return "", fmt.Errorf("%w: the file is empty", ErrEmpty)
	}
	if err := foreign(head); err != nil || want != "" {
		return want, err
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) {
		return detectJSON(text)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	names, err := splitCSV(strings.TrimRight(string(line), "\r"))
	if err == nil {
		if k := match(lower(names), true); k != "" {
			return k, nil
		}
	}
	return "", unknown("a header of", names, string(line))
}

func lower(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return out
}

// match returns the first kind whose columns are all among the names.
func match(names []string, csv bool) Kind {
	have := map[string]bool{}
	for _, name := range names {
		have[name] = true
	}
next:
	for _, f := range formats {
		if f.csv != csv {
			continue
		}
		for _, name := range f.has {
			if !have[name] {
				continue next
			}
		}
		return f.kind
	}
	return ""
}

// detectJSON reads the names of the first object, as far as they lie in text.
func detectJSON(text []byte) (Kind, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	where := "an object with"
	if d.PeekKind() == '[' {
		d.ReadToken()
		where = "a list of objects with"
	}
	var names []string
	if t, err := d.ReadToken(); err == nil && t.Kind() == '{' {
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				break
			}
			names = append(names, name.String())
			if d.SkipValue() != nil {
				break // the first object goes on beyond what was looked at
			}
		}
	}
	seen := lower(names)
	if k := match(seen, false); k != "" && (k != Mooncake || where[:5] != "a lis") {
		return k, nil
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	err := unknown(where, names, string(line))
	for _, known := range []struct{ name, what string }{
		{"trajectory_id", "it is a manifest of trajectories already: use agent.Open"},
		{"block_size", "it looks like a Weka coding trace, which is not supported"},
		{"round_index", "it looks like a TraceLab trace, which is not supported"},
		{"conversation_id", "it looks like MLPerf agentic rows, which are not supported"},
		{"payload", "rows that are whole requests are a dataset of bodies, which evaltest/load/workload reads"},
	} {
		for _, name := range seen {
			if name == known.name {
				return "", fmt.Errorf("%w: %s", err, known.what)
			}
		}
	}
	return "", err
}

// unknown says what was seen and what is known.
func unknown(where string, names []string, line string) error {
	seen := quote(line)
	if len(names) > 0 {
		const most = 12
		more := ""
		if len(names) > most {
			names, more = names[:most], ", …"
		}
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = quote(name)
		}
		seen = where + " " + strings.Join(quoted, ", ") + more
	}
	return fmt.Errorf("%w: the file begins with %s; known are %s: azure by the columns TIMESTAMP, ContextTokens and GeneratedTokens; "+
		"bailian by chat_id, parent_chat_id and input_length; burstgpt by Timestamp, Request tokens and Response tokens; "+
		"mooncake, in JSONL, by input_length, hash_ids, text_input or messages; otel by resourceSpans, or traceId and spanId; sharegpt by conversations",
		ErrKind, seen, kindNames())
}

// foreign names a file that is no text.
func foreign(head []byte) error {
	for _, f := range []struct{ magic, what string }{
		{"PK\x03\x04", "a zip archive; unpack it"},
		{"PAR1", "a Parquet file; convert it to JSONL or CSV"},
		{"ARROW1", "an Arrow file; convert it to JSONL or CSV"},
		{"\x1f\x8b", "gzip inside compressed data; unpack it once"},
		{"\x28\xb5\x2f\xfd", "zstd inside compressed data; unpack it once"},
		{"BZh", "bzip2 data; recompress it with gzip or zstd"},
		{"\xfd7zXZ\x00", "xz data; recompress it with gzip or zstd"},
		{"\xff\xfe", "UTF-16 text; convert it to UTF-8"},
		{"\xfe\xff", "UTF-16 text; convert it to UTF-8"},
		{"version https://git-lfs.github.com/spec/", "a Git LFS pointer in place of the file; fetch it with git lfs pull"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return fmt.Errorf("%w: it is %s", ErrKind, f.what)
		}
	}
	text := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 512)]))
	if bytes.HasPrefix(text, []byte("<!doctype html")) || bytes.HasPrefix(text, []byte("<html")) {
		return fmt.Errorf("%w: it is an HTML page; was a login or error page saved in place of the file?", ErrKind)
	}
	return nil
}
