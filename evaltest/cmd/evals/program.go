package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A command is one subcommand.
type command struct {
	name string
	line string // how it is called, without "evals"
	what string // one line for the overview
	more string // the help's text: what it reads and writes, and examples
	// groups put the flags of the help under titles; nil: one list of all.
	groups []flagGroup
	// setup declares the flags and returns what runs with the arguments that
	// are no flags.
	setup func(p *program, fs *flag.FlagSet) func(args []string) error
}

// A program is what the commands work with, so that tests need no process.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string // os.Getenv
}

// usageError is a mistake in the command line, which main answers with exit
// code 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

func commands() []command {
	return []command{gradeCommand, showCommand, statCommand, mergeCommand, costCommand, loadCommand, agentCommand}
}

// run is the program. It writes no error: main does.
func run(stdin io.Reader, stdout, stderr io.Writer, args []string, env func(string) string) error {
	p := &program{stdin, stdout, stderr, env}
	if len(args) == 0 {
		return usagef("no command\n\n%s", overview())
	}
	switch name := args[0]; name {
	case "help", "-h", "-help", "--help":
		return p.help(args[1:])
	default:
		c, err := find(name)
		if err != nil {
			return err
		}
		return p.call(c, args[1:])
	}
}

func find(name string) (command, error) {
	known := []string{"help"}
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
		known = append(known, c.name)
	}
	slices.Sort(known)
	return command{}, usagef("unknown command %q%s; the commands are %s", name, didYouMean(name, known), strings.Join(known, ", "))
}

func (p *program) help(args []string) error {
	text := overview()
	switch {
	case len(args) > 1:
		return usagef("help takes one command, not %d", len(args))
	case len(args) == 1 && args[0] != "help":
		c, err := find(args[0])
		if err != nil {
			return err
		}
		text = p.manual(c)
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

func overview() string {
	var b strings.Builder
	b.WriteString("evals grades responses, prices calls, shows and compares what runs came to, and\nputs model servers under load.\n\nUsage:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  evals %s\n        %s\n", c.line, c.what)
	}
	b.WriteString("  evals help [COMMAND]\n        this text, or a command's flags and examples\n")
	b.WriteString("\nExit code: 0 if all went well, 1 if something did not, 2 for a mistake in the command line.\n")
	return b.String()
}

// manual is a command's help.
func (p *program) manual(c command) string {
	fs, _ := p.flags(c)
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: evals %s\n\n%s\n\nFlags:\n\n", c.line, c.more)
	if c.groups != nil {
		writeFlags(&b, fs, c.groups)
		return b.String()
	}
	fs.SetOutput(&b)
	fs.PrintDefaults()
	return b.String()
}

// flags declares a command's flags anew.
func (p *program) flags(c command) (*flag.FlagSet, func([]string) error) {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // main says what is wrong, once
	fs.Usage = func() {}
	return fs, c.setup(p, fs)
}

// call runs a command. Flags may stand before and after the other arguments.
func (p *program) call(c command, args []string) error {
	fs, do := p.flags(c)
	var rest []string
	for {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			_, err := io.WriteString(p.stdout, p.manual(c))
			return err
		case err != nil:
			return usagef("%s: %s; 'evals help %s' lists the flags", c.name, badFlag(fs, err), c.name)
		}
		if fs.NArg() == 0 {
			return do(rest)
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}

// badFlag is what package flag says of an argument, and what would do where it
// says no more than "parse error".
func badFlag(fs *flag.FlagSet, err error) string {
	text := err.Error()
	says, ok := strings.CutSuffix(text, ": parse error")
	if !ok {
		return text
	}
	name := says[strings.LastIndex(says, " -")+2:]
	f := fs.Lookup(name)
	if f == nil {
		return text
	}
	getter, ok := f.Value.(flag.Getter)
	if !ok {
		return text
	}
	switch getter.Get().(type) {
	case time.Duration:
		return says + ": want a time with its unit, such as 30s, 500ms or 1h30m"
	case bool:
		return says + ": want true or false"
	case float64:
		return says + ": want a number"
	}
	return says + ": want a whole number"
}
