package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/goevals/evals/llm/price"
)

var costCommand = command{
	name: "cost",
	line: "cost [-model M] [-prices FILE] [FILE]",
	what: "say what calls cost, from the usage that providers reported",
	more: `Reads rows from FILE, or from standard input without FILE or for "-". The file
is JSONL, plain, gzip or zstd, whatever its name. A row is a JSON object:

  usage      the provider's usage object as it came over the wire: of OpenAI and
             the many that imitate it, OpenRouter, DeepSeek, Anthropic, or
             Gemini's usageMetadata; null or nothing if none came
  provider   who bills: openai, google, anthropic, deepseek, groq, …
  model      the model's id; without it, that of -model
  prices_per_million
             prices in USD per million tokens, numbers or decimals in strings:
             in, cached_in, out; for prompts of more than 200,000 tokens the same
             with _above_200k (or another number); cache_write, cache_write_1h for
             what was written to a cache
  at         when the call was made, such as 2026-08-27T12:00:00Z

Other fields are ignored. Each row becomes one line of output, in the same order:

  input, cached, output, reasoning   tokens; cached is part of input, reasoning
             of output; null if the usage is unknown
  usd        what the call cost, an exact decimal in a string; null if unknown

What the provider itself says that the call cost (usage.cost) counts first. Else
the row's prices_per_million count, and no others. Else the table of list prices
that comes with this version, or FILE's of -prices over it: see
https://pkg.go.dev/github.com/goevals/evals/llm/price. A model that is not in it
has no price, and without in or out what needs them has none; none of this is 0.
What is not given falls back: a key with _above_200k to the one without, cached_in
and cache_write to in. A row without a time is priced as on the day of the table;
a model with peak hours then has no price. Without provider, the id of the model
must say who bills where many do: groq/openai/gpt-oss-120b.

Why rows have no usd is said on standard error, once for each reason. A row that
cannot be read becomes a line of nulls with the error in it, and the program ends
with an error that names the rows; all others are priced. No row at all is an
error too.

Examples:

  evals cost usage.jsonl
  evals cost -model gpt-4o-mini <usage.jsonl
  evals cost -prices our-prices.tsv usage.jsonl.gz`,
	setup: setupCost,
}

func setupCost(p *program, fs *flag.FlagSet) func([]string) error {
	model := fs.String("model", "", "rows that name no model are of `M`")
	prices := fs.String("prices", "", "take prices from `FILE`, TSV or JSON, and from the table for what is not in it")
	return func(args []string) error {
		if len(args) > 1 {
			return usagef("cost: one FILE at a time, not %d; for several: cat a.jsonl b.jsonl | evals cost …", len(args))
		}
		path := strings.Join(args, "")
		if path == "" && isTerminal(p.stdin) {
			return usagef("cost: no FILE, and standard input is a terminal; name a file of rows, or - to type them")
		}
		table := price.Default()
		if *prices != "" {
			var err error
			if table, err = price.Load(*prices); err != nil {
				return fmt.Errorf("cost: -prices: %w", err)
			}
		}
		src, err := p.open(path)
		if err != nil {
			return err
		}
		defer src.close()
		return (&till{p: p, table: table, model: *model, src: src}).run()
	}
}

// A till prices rows.
type till struct {
	p     *program
	table *price.Table
	model string // of rows that name none
	src   *source
	rows  int
	bad   []*rowError // the first rows that cannot be read
	badN  int         // how many cannot be read
	notes findings    // rows whose cost is not known, or whose usage is odd
	// unpriced is set if some row has no price.
	unpriced bool
}

// run prices row after row. What was written is complete and in order, whatever
// happens.
func (t *till) run() error {
	out := bufio.NewWriterSize(t.p.stdout, 64<<10)
	err := t.each(out)
	if ferr := out.Flush(); ferr != nil {
		return fmt.Errorf("write the output: %w", ferr)
	}
	if t.notes.rows > 0 {
		text := t.notes.text(t.src.name)
		if t.unpriced {
			text += howToPrice
		}
		if _, werr := io.WriteString(t.p.stderr, visible(text)); werr != nil {
			return errors.Join(err, werr)
		}
	}
	return errors.Join(t.failure(), err)
}

func (t *till) each(out *bufio.Writer) error {
	for {
		raw, err := t.src.next()
		if err == io.EOF {
			if t.rows == 0 {
				return fmt.Errorf("%s holds no row; nothing was priced", t.src.name)
			}
			return nil
		}
		if err != nil {
			return err
		}
		t.rows++
		if _, err := out.Write(t.price(raw)); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		if t.src.live {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write the output: %w", err)
			}
		}
	}
}

// price is the line of output for a row.
func (t *till) price(raw []byte) []byte {
	r, err := parseCostRow(raw)
	if err != nil {
		if t.badN++; len(t.bad) < maxBad {
			t.bad = append(t.bad, &rowError{t.src.name, t.src.line, err})
		}
		return r.line(err)
	}
	for _, w := range r.warnings {
		t.notes.add(t.src.line, w)
	}
	if r.usd == "" {
		usd, err := r.price(t.table, t.model)
		switch {
		case err == nil:
			r.usd = usd.String()
		case errors.Is(err, price.ErrNoUsage) && len(r.warnings) > 0: // which say why
		default:
			t.notes.add(t.src.line, "no usd: "+err.Error())
			t.unpriced = t.unpriced || errors.Is(err, price.ErrNoPrice)
		}
	}
	return r.line(nil)
}

const howToPrice = "evals: rows without a price: name who bills in provider, or give prices in prices_per_million or with -prices FILE\n"

// maxBad is how many rows that cannot be read are named in the error.
const maxBad = 20

// failure is the error for the rows that could not be read.
func (t *till) failure() error {
	if t.badN == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cost: %s of %d cannot be read; a line of nulls with the error stands for each", plural(t.badN, "row"), t.rows)
	for _, e := range t.bad {
		fmt.Fprintf(&b, "\n%v", e)
	}
	if more := t.badN - len(t.bad); more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return errors.New(b.String())
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// findings are what is to be said of rows, once for each reason.
type findings struct {
	list []*finding
	rows int // all
	more int // those that are not in list
}

type finding struct {
	line, rows int // the first row's line, and how many there are
	what       string
}

// maxFindings is how many reasons are told apart: a file may hold a new one in
// each row.
const maxFindings = 10

func (f *findings) add(line int, what string) {
	f.rows++
	for _, old := range f.list {
		if old.what == what {
			old.rows++
			return
		}
	}
	if len(f.list) == maxFindings {
		f.more++
		return
	}
	f.list = append(f.list, &finding{line, 1, what})
}

func (f *findings) text(file string) string {
	var b strings.Builder
	for _, n := range f.list {
		more := ""
		if n.rows > 1 {
			more = " and " + plural(n.rows-1, "further row")
		}
		fmt.Fprintf(&b, "evals: %s:%d%s: %s\n", file, n.line, more, n.what)
	}
	if f.more > 0 {
		fmt.Fprintf(&b, "evals: %s: and %d more for other reasons\n", file, f.more)
	}
	return b.String()
}
