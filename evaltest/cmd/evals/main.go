package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
)

func main() { os.Exit(execute(os.Stdin, os.Stdout, os.Stderr, os.Args[1:], os.Getenv)) }

// execute runs the program, says on stderr what went wrong, and returns the
// exit code.
func execute(stdin io.Reader, stdout, stderr io.Writer, args []string, env func(string) string) int {
	err := run(stdin, stdout, stderr, args, env)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "evals: %s\n", strings.TrimSuffix(visible(err.Error()), "\n")) //nolint:errcheck // nowhere to tell it
	var usage *usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// visible escapes what a terminal may obey: errors quote file names and rows.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
