package workload

import (
	"fmt"
	"math"
	"slices"
)

// Options say what a synthetic workload is like. Text and Input (or Pairs) are
// needed.
type Options struct {
	// Text makes the prompts.
	Text Text `json:"-"`
	// Seed is the root of all random numbers but the salt. Default: drawn by
	// [NewSeed]; [Workload.Options] has it.
	Seed uint64 `json:"seed"`
	// Count is how many requests there are. Default: 0, no end.
	Count int `json:"count,omitempty"`
	// Input is how long prompts are, in tokens.
	Input Dist `json:"input"`
	// Output is how long answers are to be. Default: as the server likes.
	Output Dist `json:"output"`
	// Pairs are the lengths of one request after the other, in place of Input
	// and Output, as a trace has them: long prompts and long answers need not
	// come together. Count is their number then, if it is 0; they begin anew if
	// it is more.
	Pairs []Pair `json:"-"`
	// Overlap makes all prompts begin alike; Groups makes many of them do so.
	// Only one of the two can be used.
	Overlap Overlap `json:"overlap,omitzero"`
	Groups  Groups  `json:"groups,omitzero"`
	// Salt is what makes the prompts of two runs differ.
	Salt Salt `json:"salt"`
	// CacheBlock is the block size of the prefix cache that PossibleCached is about,
	// in tokens; a block is cached whole or not at all. Default: 1. vLLM has 16.
	CacheBlock int `json:"cache_block,omitempty"`
}

// A Pair is the lengths of one request: Input is at least 1, an Output of 0 is
// left to the server.
type Pair struct {
	Input, Output int
}

// A Workload makes synthetic requests. It is safe for concurrent use and keeps
// no requests, only the texts that they share.
type Workload struct {
	opt       Options
	sums      []float64    // of the groups' weights
	beginning []*beginning // one, or one for each group
	common    int          // tokens of it that a prompt has: with OfShortest and groups
	before    before
}

// New checks the options and returns the workload. Errors are [*OptionError]s.
func New(opt Options) (*Workload, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	salt, err := opt.Salt.resolve()
	if err != nil {
		return nil, err
	}
	opt.Salt = salt
	if opt.Seed == 0 {
		opt.Seed = NewSeed()
	}
	opt.CacheBlock = max(1, opt.CacheBlock)
	if opt.Count == 0 {
		opt.Count = len(opt.Pairs)
	}
	opt.Pairs, opt.Groups.Weights = slices.Clone(opt.Pairs), slices.Clone(opt.Groups.Weights)
	w := &Workload{opt: opt, sums: cumulate(opt.Groups.Weights)}
	w.shareText()
	return w, nil
}

func (o *Options) check() error {
	switch {
	case o.Text == nil:
		return &OptionError{Option: "Text", Reason: "is missing: it makes the prompts"}
	case o.Input.IsZero() && len(o.Pairs) == 0:
		return &OptionError{Option: "Input", Reason: "is missing: how long are the prompts?"}
	case len(o.Pairs) > 0 && !(o.Input.IsZero() && o.Output.IsZero()):
		return &OptionError{Option: "Pairs", Reason: "cannot be combined with Input or Output"}
	case o.Input.kind != logNormal && o.Input.top() > MaxLength:
		return badOption("Input", o.Input, fmt.Sprintf("want at most %d tokens", MaxLength))
	case o.Input.max > MaxLength:
		return badOption("Input", fmt.Sprintf("a log-normal up to %d", o.Input.max), fmt.Sprintf("want a max of at most %d tokens", MaxLength))
	case o.Count < 0:
		return badOption("Count", o.Count, "want at least 0, which is no end")
	case o.CacheBlock < 0:
		return badOption("CacheBlock", o.CacheBlock, "want at least 1, or 0 for the default of 1")
	}
	for i, p := range o.Pairs {
		if p.Input < 1 || p.Input > MaxLength || p.Output < 0 || p.Output > maxDraw {
			return badOption(fmt.Sprintf("Pairs[%d]", i), fmt.Sprintf("%+v", p), fmt.Sprintf("want an Input from 1 to %d and an Output from 0 to %d", MaxLength, maxDraw))
		}
	}
	if err := o.Groups.check(); err != nil {
		return err
	}
	return o.checkOverlap()
}

func (o *Options) checkOverlap() error {
	l := o.Overlap
	switch {
	case !(l.Share >= 0 && l.Share <= 1):
		return badOption("Overlap.Share", l.Share, "want from 0 to 1")
	case l.Of != OfEach && l.Of != OfShortest:
		return badOption("Overlap.Of", l.Of, fmt.Sprintf("want %q or %q", OfEach, OfShortest))
	case l.Share > 0 && o.Groups.Count > 0:
		return badOption("Overlap.Share", l.Share, "it cannot be combined with Groups")
	case l.Share > 0 && l.Of == OfShortest && o.Count == 0 && len(o.Pairs) == 0:
		return badOption("Overlap.Of", l.Of, "it needs Count: the shortest of how many prompts?")
	case l.Step < 0 || l.Step > MaxLength:
		return badOption("Overlap.Step", l.Step, fmt.Sprintf("want from 1 to %d, or 0 for the default of 1", MaxLength))
	case l.Step > 1 && (l.Share == 0 || l.Of == OfShortest):
		return badOption("Overlap.Step", l.Step, "it needs a Share of each prompt")
	}
	return nil
}

// shareText prepares the texts that prompts share.
func (w *Workload) shareText() {
	step, n := 0, 1
	switch l := w.opt.Overlap; {
	case w.opt.Groups.Count > 0:
		w.common, n = w.opt.Groups.Tokens, w.opt.Groups.Count
		step = w.common
	case l.Share == 0:
		return
	case l.Of == OfShortest:
		shortest := math.MaxInt
		for seq := range w.opt.Count {
			input, _ := w.lengths(seq)
			shortest = min(shortest, input)
		}
		w.common = max(1, share(shortest, l.Share))
		step = w.common
	default:
		step = max(1, l.Step)
		w.opt.Overlap.Step = step
	}
	w.beginning = make([]*beginning, n)
	for i := range w.beginning {
		w.beginning[i] = &beginning{
			text: w.opt.Text, step: step, salt: w.opt.Salt,
			key: uint64(i), seeds: [2]uint64{w.opt.Seed, w.opt.Salt.Value},
		}
	}
}

// share is a share of n tokens, rounded down. A product that is below a whole
// number only because of rounding, such as 100·0.29, counts as that number.
func share(n int, s float64) int {
	return min(n, int(math.Floor(float64(n)*s*(1+1e-12))))
}

// Options returns the options with what was drawn or is a default filled in:
// with them, New makes the same requests.
func (w *Workload) Options() Options {
	opt := w.opt
	opt.Pairs, opt.Groups.Weights = slices.Clone(opt.Pairs), slices.Clone(opt.Groups.Weights)
	return opt
}

// Len is the number of requests; 0 if they do not end.
func (w *Workload) Len() int { return w.opt.Count }

// lengths draws the lengths of a request: the part of the prompt that is not a
// group's, and the answer, 0 if it is not limited.
func (w *Workload) lengths(seq int) (input, output int) {
	if n := len(w.opt.Pairs); n > 0 {
		p := w.opt.Pairs[seq%n]
		return p.Input, p.Output
	}
	input = w.opt.Input.Draw(Rand(w.opt.Seed, uint64(seq), InputLength))
	if !w.opt.Output.IsZero() {
		output = w.opt.Output.Draw(Rand(w.opt.Seed, uint64(seq), OutputLength))
	}
	return input, output
}

// Request makes the request with this number. See [Source].
func (w *Workload) Request(seq int) (Request, error) {
	req := Request{Seq: seq, Group: -1, Entry: -1}
	if seq < 0 {
		panic(fmt.Sprintf("workload: request %d was asked for; they are counted from 0", seq))
	}
	if w.opt.Count > 0 && seq >= w.opt.Count {
		return req, &BuildError{Seq: seq, Err: fmt.Errorf("%w: Count is %d", ErrEnd, w.opt.Count)}
	}
	input, output := w.lengths(seq)
	req.AskedInput, req.Output = input, Output{output, output}
	w.share(&req)
	if req.AskedInput > MaxLength {
		return req, &BuildError{Seq: seq, Tokens: req.AskedInput, Err: fmt.Errorf("%w: at most %d tokens are made; give the input length a max", ErrLength, MaxLength)}
	}
	if err := w.build(&req); err != nil {
		return req, &BuildError{Seq: seq, Tokens: req.AskedInput, Err: err}
	}
	return req, nil
}

// share says which part of the prompt others begin with, too, and what a cache
// could have of it.
func (w *Workload) share(req *Request) {
	g, seen := w.opt.Groups, 0
	switch {
	case len(w.beginning) == 0:
		return
	case g.Count > 0:
		req.Group, req.Shared = w.group(req.Seq), g.Tokens
		req.AskedInput += g.Tokens
		if w.before.group(req.Seq, req.Group, g.Count, w.group) {
			seen = g.Tokens
		}
	case w.common > 0:
		req.Shared = w.common
		if req.Seq > 0 {
			seen = w.common
		}
	default:
		req.Shared = w.overlap(req.Seq)
		seen = min(req.Shared, w.before.overlap(req.Seq, w.overlapOf(w.longest()), w.overlap))
	}
	req.PossibleCached = blocks(seen, w.opt.CacheBlock)
}

func (w *Workload) group(seq int) int {
	return pick(Rand(w.opt.Seed, uint64(seq), GroupChoice), w.opt.Groups.Count, w.sums)
}

// longest is what no prompt is longer than.
func (w *Workload) longest() int {
	if len(w.opt.Pairs) > 0 {
		return MaxLength
	}
	return w.opt.Input.top()
}

func (w *Workload) overlap(seq int) int {
	input, _ := w.lengths(seq)
	return w.overlapOf(input)
}

func (w *Workload) overlapOf(input int) int {
	return blocks(share(input, w.opt.Overlap.Share), w.opt.Overlap.Step)
}

// build makes the text: what is shared, then as much salt as that has not had,
// then the prompt's own.
func (w *Workload) build(req *Request) error {
	head := ""
	if req.Shared > 0 {
		var err error
		if head, err = w.beginning[max(0, req.Group)].head(req.Shared); err != nil {
			return err
		}
	}
	text := head
	if w.opt.Groups.System {
		text = "" // the user's message begins anew
	}
	left, key := req.AskedInput-req.Shared, uint64(req.Seq)
	salt := min(left, w.opt.Salt.left(req.Shared))
	text, err := extend(w.opt.Text, Rand(w.opt.Salt.Value, key, OwnSalt), text, salt)
	if err == nil {
		text, err = extend(w.opt.Text, Rand(w.opt.Seed, key, InitialText), text, left-salt)
	}
	if err != nil {
		return err
	}
	if w.opt.Groups.System {
		req.Messages = systemAndUser(head, text)
		return nil
	}
	req.Prompt = text
	return nil
}
