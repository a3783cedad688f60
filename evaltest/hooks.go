package evaltest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"
)

// hooks is what a run takes from the process around it, so that a test can put
// something else in its place: a run inside a testing/synctest bubble must not
// call signal.Notify there, and its clock is the bubble's.
type hooks struct {
	getenv func(string) string
	// environ lists the environment, to find variables that are misspelt.
	environ func() []string
	flags   map[string]*knobFlag
	// testFlag returns the value of -test.name, "" if there is no such flag.
	testFlag func(name string) string
	deadline func(*testing.T) (time.Time, bool)
	// signals begins to deliver SIGINT and SIGTERM; stop ends that.
	signals func() (ch <-chan os.Signal, stop func())
	// unhook gives the signals their default back: the next one kills.
	unhook func()
	ppid   func() int
	// terminal opens the user's terminal; nil if there is none.
	terminal func() terminal
	process  *process
}

// A terminal is where progress is drawn.
type terminal interface {
	io.WriteCloser
	Width() int // in columns; 0 if unknown
}

// process is what the runs of one test binary share.
type process struct {
	mu     sync.Mutex
	halted *halt // set for good by a signal or by the death of the parent
}

// halt makes every later run refuse. The first cause stays.
func (p *process) halt(h *halt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.halted == nil {
		p.halted = h
	}
}

// cause returns why no further run may begin, or nil.
func (p *process) cause() *halt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.halted
}

var thisProcess process

// realHooks are those of a run under go test.
func realHooks() *hooks {
	return &hooks{
		getenv:   os.Getenv,
		environ:  os.Environ,
		flags:    commandLine,
		testFlag: testFlag,
		deadline: (*testing.T).Deadline,
		signals: func() (<-chan os.Signal, func()) {
			ch := make(chan os.Signal, 1)
			signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
			return ch, func() { signal.Stop(ch) }
		},
		unhook:   func() { signal.Reset(os.Interrupt, syscall.SIGTERM) },
		ppid:     os.Getppid,
		terminal: openTerminal,
		process:  &thisProcess,
	}
}

// testFlag looks a flag of package testing up. They are not all defined in
// programs other than test binaries.
func testFlag(name string) string {
	f := flag.Lookup("test." + name)
	if f == nil {
		return ""
	}
	return f.Value.String()
}

// verbose reports -v; go test -json implies it.
func (h *hooks) verbose() bool {
	v := h.testFlag("v")
	return v == "true" || v == "test2json"
}

// json reports go test -json.
func (h *hooks) json() bool { return h.testFlag("v") == "test2json" }

// narrowing names the flags that leave subtests out, with their values.
func (h *hooks) narrowing() string {
	var flags []string
	for _, name := range []string{"run", "skip"} {
		if v := h.testFlag(name); v != "" {
			flags = append(flags, fmt.Sprintf("-%s %q", name, v))
		}
	}
	return strings.Join(flags, " with ")
}

type ttyFile struct{ *os.File }

// Width asks each time: windows are resized.
func (f ttyFile) Width() int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// openTerminal opens the controlling terminal. Standard output and error are
// no substitute: go test joins both into the stream that it and its readers
// parse.
func openTerminal() terminal {
	f, err := os.OpenFile(ttyPath, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	if !term.IsTerminal(int(f.Fd())) {
		f.Close()
		return nil
	}
	return ttyFile{f}
}
