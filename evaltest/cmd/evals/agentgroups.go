package main

import (
	"flag"
	"fmt"
	"strings"
)

// A flagGroup is flags of the help under one title. What is in none, as other
// names of a flag, is not shown on its own.
type flagGroup struct {
	title string
	flags string // names with spaces between
}

// helpWidth is where the help's lines are broken.
const helpWidth = 80

// writeFlags writes the flags by groups, each with its other names.
func writeFlags(b *strings.Builder, fs *flag.FlagSet, groups []flagGroup) {
	for i, g := range groups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s:\n", g.title)
		for name := range strings.FieldsSeq(g.flags) {
			writeFlag(b, fs, fs.Lookup(name))
		}
	}
}

func writeFlag(b *strings.Builder, fs *flag.FlagSet, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	head := "  -" + f.Name
	if value != "" {
		head += " " + value
	}
	fs.VisitAll(func(other *flag.Flag) {
		if other.Value == f.Value && other != f {
			head += ", -" + other.Name
		}
	})
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "0s" && !strings.Contains(usage, "(default") {
		usage += " (default " + d + ")"
	}
	b.WriteString(head + "\n" + wrap(usage, "        ", helpWidth))
}

// wrap breaks a text into lines of at most width characters, indent included. A
// longer word has a line of its own.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
