package agent

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goevals/evals/dataset"
)

// A Manifest is a file of trajectories, one a line.
type Manifest struct {
	// File is the name given to Read.
	File string
	// SHA256 is the hash of the file as it is stored, compressed or not, in
	// hexadecimal.
	SHA256 string
	// SchemaVersion is the highest that a line has.
	SchemaVersion int
	// Trajectories are the lines in order; blank ones are skipped.
	Trajectories []Trajectory
}

// A Trajectory is one line of a manifest.
type Trajectory struct {
	// Line is where it stood, from 1; 0 if it was not read.
	Line int
	// Version is its schema version: 1 or 2.
	Version int
	// ID is unique in the file, and holds more than white space.
	ID string
	// StartAfter is when an open loop admits it, from the run's start, in
	// whole milliseconds. Version 2.
	StartAfter time.Duration
	// Requests are its turns; there is at least one.
	Requests []Request
}

// A Request is one turn of a trajectory as a manifest states it.
type Request struct {
	// PromptTokens is the length of the whole prompt, at least 1.
	PromptTokens int
	// OutputTokens is the length of the reply, at least 1.
	OutputTokens int
	// DelayAfter is how long the tool takes after the reply, in whole
	// milliseconds; default 0.
	DelayAfter time.Duration
	// ResetBefore says that the conversation starts over with this request.
	// In version 2 the first request may say so, without effect.
	ResetBefore bool
	// Overhead is how many of the prompt's tokens the server's template adds;
	// nil: as [Replay] says. Version 2.
	Overhead *int
	// Stream says whether the reply is streamed; nil: as [Body] says. Version 2.
	Stream *bool
	// MaxTokens caps the reply, at least 1; 0: at OutputTokens. Version 2.
	MaxTokens int
	// Blocks, if there are any, are the whole content of the prompt. All
	// requests of a trajectory have blocks, or none has. Version 2.
	Blocks []Block
}

// A Block is a piece of a prompt whose text is made from its seed alone, so
// that equal seeds give equal bytes in every request, session and run.
type Block struct {
	// Seed names the text; not empty. In a trajectory one seed has one role and
	// one length.
	Seed string
	// Tokens is its length: of the text, or, of a tool definition, of its
	// JSON, or, of a tool call, of the JSON of its arguments.
	Tokens int
	Role   Role
	// Live says that the model's last reply takes its place, if there is one.
	// Only an Assistant may be live.
	Live bool
}

// Role is what a block is in its prompt.
type Role string

// Roles.
const (
	ToolDefinition Role = "tool_definition"
	System         Role = "system"
	User           Role = "user"
	Assistant      Role = "assistant"
	Tool           Role = "tool"
	ToolCall       Role = "tool_call"
)

// maxLine is the longest line that Read takes. A trajectory of 10,000
// requests with 1,000 blocks each would be longer; none is known that is.
const maxLine = 64 << 20

// Open reads the manifest in a file: plain, gzip or zstd, told apart by their
// first bytes. See [Read].
func Open(path string) (*Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to open trajectory plan file: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a manifest whole and checks all of it before it returns: it
// stops at the first bad line with a *[LineError], and a manifest without any
// trajectory is [ErrEmpty]. The name is for errors and for Manifest.File.
func Read(r io.Reader, name string) (*Manifest, error) {
	hash := sha256.New()
	plain, err := dataset.Decompress(io.TeeReader(r, hash))
	if err != nil {
		return nil, fmt.Errorf("failed to read trajectory plan file %s: %w", name, err)
	}
	defer plain.Close()
	m := &Manifest{File: name}
	if err := m.readLines(bufio.NewReaderSize(plain, 64<<10)); err != nil {
		return nil, err
	}
	// Decompressors read on to the end of the file, so all of it was hashed.
	m.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if len(m.Trajectories) == 0 {
		return nil, problemf(ErrEmpty, "trajectory plan file %s contains no trajectory plans", name)
	}
	return m, nil
}

func (m *Manifest) readLines(r *bufio.Reader) error {
	lineOf := map[string]int{} // of each trajectory id
	for n := 1; ; n++ {
		line, err := readLine(r)
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err != nil && err != io.EOF:
			return &LineError{m.File, n, fmt.Errorf("failed to read the line: %w", err)}
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			t, err := parseLine(text)
			if err == nil {
				err = checkTrajectory(t)
			}
			if err == nil && lineOf[t.ID] > 0 {
				err = problemf(ErrDuplicate, "duplicate trajectory_id %q, first on line %d", t.ID, lineOf[t.ID])
			}
			if err != nil {
				return &LineError{m.File, n, err}
			}
			t.Line, lineOf[t.ID] = n, n
			m.Trajectories = append(m.Trajectories, *t)
			m.SchemaVersion = max(m.SchemaVersion, t.Version)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// readLine returns a line without a limit of bufio's making. The slice is good
// until the next call only if it came in one piece; parseLine copies.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		if long = append(long, line...); len(long) > maxLine {
			return nil, problemf(ErrLineTooLong, "the line is longer than %d bytes", maxLine)
		}
	}
	return long, err
}
