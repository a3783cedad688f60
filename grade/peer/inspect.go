package peer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goevals/evals/grade"
)

// A Location is where in a response Inspect's match looks for the target.
type Location string

// The locations. For text they ask for a suffix, a prefix, a part or the
// whole; for numbers for the last number, the first, one of all or the whole.
const (
	End   Location = "end"
	Begin Location = "begin"
	Any   Location = "any"
	Exact Location = "exact"
)

// InspectOptions are the arguments of Inspect's match scorer. The zero value
// is the scorer's own default.
type InspectOptions struct {
	// Location is where to look; empty is [End].
	Location Location
	// Numeric compares numbers, to five significant digits, if the target
	// is one. A target that is not one is compared as text all the same.
	Numeric bool
	// MatchCase minds the case (Inspect: ignore_case=False).
	MatchCase bool
	// TrimPunctuation lets "42!" and "(42)" be numbers, as releases from
	// 0.3.261 on do. The default is the rule before that, under which most
	// published numbers stand: such words are no numbers and are passed over.
	TrimPunctuation bool
}

// InspectMatch grades as Inspect's match scorer. It never says Unparsed: a
// response without a number is wrong, as the scorer has it. An unknown
// Location panics.
func InspectMatch(o InspectOptions) grade.Grader { return newInspect(o) }

func newInspect(o InspectOptions) *rule {
	if o.Location == "" {
		o.Location = End
	}
	switch o.Location {
	case End, Begin, Any, Exact:
	default:
		panic(fmt.Sprintf("peer: InspectMatch: location %q is none of end, begin, any, exact", o.Location))
	}
	python := map[bool]string{false: "False", true: "True"}
	args := fmt.Sprintf("numeric=%s,location=%s", python[o.Numeric], o.Location)
	if o.MatchCase {
		args += ",ignore_case=False"
	}
	r := &rule{
		name:   "inspect.match(" + args + ")",
		source: source{"UKGovernmentBEIS/inspect_ai", "499e6152e"},
		about:  "text at this location, case folded, punctuation around it dropped",
		compare: func(response, target string) (finding, error) {
			return o.compare(response, target), nil
		},
	}
	if o.Numeric {
		r.about = "the number at this location, to five significant digits"
	}
	if o.TrimPunctuation {
		r.name = "inspect@0.3.261.match(" + args + ")"
		r.source.version = "0.3.261"
		r.about += `; !?:;()[]{}'" and backquotes around it dropped`
	}
	return r
}

func (o InspectOptions) compare(response, target string) finding {
	answer := strip(response)
	value, want := answer, strip(target)
	if !o.MatchCase {
		value, want = casefold(value), casefold(want)
	}
	if o.Numeric {
		want = stripNumeric(want)
		if _, ok := o.number(want); ok {
			return o.compareNumber(stripNumeric(value), o.normal(want), answer)
		}
		// Not a number: text, with the response not stripped of $ , * _.
	}
	value, want = trimPunctuation(value), trimPunctuation(want)
	switch o.Location {
	case Begin:
		return found(strings.HasPrefix(value, want), answer)
	case End:
		return found(strings.HasSuffix(value, want), answer)
	case Exact:
		return found(value == want, answer)
	default:
		return found(strings.Contains(value, want), answer)
	}
}

// compareNumber looks for want, a number in normal form, in value. whole is
// the response, which is the answer where no single number is.
func (o InspectOptions) compareNumber(value, want, whole string) finding {
	words := strings.FieldsFunc(value, isSpace)
	switch o.Location {
	case End:
		words = reversed(words)
	case Exact:
		o.TrimPunctuation = false // exact stays exact
		got := o.normal(value)
		return found(got == want, got)
	}
	for _, word := range words {
		if _, ok := o.number(word); !ok {
			continue
		}
		got := o.normal(word)
		if o.Location != Any || got == want {
			return found(got == want, got)
		}
	}
	if o.Location == Any {
		return found(false, whole)
	}
	return found(false, "")
}

// normal writes a number with five significant digits, and leaves what is no
// number as it stands.
func (o InspectOptions) normal(s string) string {
	if x, ok := o.number(s); ok {
		return strconv.FormatFloat(x, 'g', 5, 64)
	}
	return s
}

func (o InspectOptions) number(s string) (float64, bool) {
	if o.TrimPunctuation {
		s = strings.Trim(s, "!?:;()[]{}'\"`")
	}
	if strings.IndexFunc(s, func(r rune) bool { return '0' <= r && r <= '9' || r >= 0x80 }) < 0 {
		return 0, false // most words of a response
	}
	if x, ok := parseFloat(s); ok {
		return x, true
	}
	return unicodeNumber(s)
}

var (
	inspectEscaped = regexp.MustCompile(`\\([$,£€*_])`)
	inspectDropped = strings.NewReplacer("$", "", ",", "", "£", "", "€", "", "*", "", "_", "")
)

// stripNumeric drops currency signs, commas and emphasis, escaped or not, and
// every dot that no digit follows.
func stripNumeric(s string) string {
	s = inspectDropped.Replace(inspectEscaped.ReplaceAllString(s, "$1"))
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		if _, digit := decimal(next); r != '.' || digit {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// trimPunctuation drops white space and punctuation, ASCII both, at the ends.
func trimPunctuation(s string) string { return strings.Trim(s, asciiSpace+asciiPunctuation) }
