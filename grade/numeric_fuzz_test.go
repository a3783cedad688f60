package grade

import (
	"context"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

var fuzzLocales = []string{"en", "de", "fr", "ch", "in"}

// FuzzNumeric: Numeric never panics, says the same twice, does not mind blank
// space at the end, and calls a response Correct if and only if the answer
// that it names is the target.
func FuzzNumeric(f *testing.F) {
	for _, seed := range []string{
		"#### 18", `\boxed{\frac{1}{2}}`, "<think>17</think>The answer is 18.", "Answer: 18 or 20", "Antwort: 4,2", "1,450,000 eggs", "~18", "2½",
		"#### 26\n\nQuestion: 5?\n#### 90", `{"answer": "18"}`, "Answer: two hundred and five", "−10", "1e999999999", "3 × 10⁴", "$-5", "A: 3+4=7", "Answer: 17. Wait, it is 18.",
		"答案：5万", "**Final Answer**\n\n\\[\\boxed{70{,}000}\\]", "a&lt;18", "<b>18</b>", "~~17~~18", "<<9*2=18>>18", "5' 11", "Answer: - 18", "18$", "18 %", "(3)(4) = 12", "v½", `x\frac12`,
	} {
		f.Add(seed, "18", uint8(0))
		f.Add(seed, "4.2", uint8(1))
	}
	f.Fuzz(func(t *testing.T, response, target string, loc uint8) {
		checkNumeric(t, response, target, fuzzLocales[int(loc)%len(fuzzLocales)])
	})
}

// checkNumeric checks what FuzzNumeric promises for one response.
func checkNumeric(t testing.TB, response, target, locale string) {
	g := Numeric(Locale(locale))
	item := dataset.Item{ID: "1", Target: target}
	v, err := g.Grade(context.Background(), item, llm.Response{Text: response})
	if err != nil {
		if _, err := parseNumber(target, localeDot); err == nil {
			t.Fatalf("target %q is a number and was refused", target)
		}
		return
	}
	require.NoError(t, v.Check())
	again, err := g.Grade(context.Background(), item, llm.Response{Text: response})
	require.NoError(t, err)
	require.Equal(t, v, again, "not deterministic")
	for _, blank := range []string{" ", "\n", "\t\n \n"} {
		padded, err := g.Grade(context.Background(), item, llm.Response{Text: response + blank})
		require.NoError(t, err)
		require.Equal(t, v.Mark, padded.Mark, "%q, %s: blank space changed %+v to %+v", response, locale, v, padded)
		require.Equal(t, v.Answer, padded.Answer, "%q, %s", response, locale)
	}
	if v.Mark != Correct && v.Mark != Incorrect {
		return
	}
	l, err := findLocale(locale)
	require.NoError(t, err)
	want := targetValue(t, target, l)
	got, ok := answerValue(v.Answer, l)
	require.Equal(t, v.Mark == Correct, ok && got.Cmp(want) == 0, "response %q, %s: answer %q, target %q: %+v", response, locale, v.Answer, target, v)
}

func targetValue(t testing.TB, target string, l locale) *big.Rat {
	v, err := parseNumber(target, localeDot)
	if err != nil {
		v, err = parseNumber(target, l)
	}
	require.NoError(t, err)
	return v
}

// answerValue reads a Verdict's Answer again; ok is false for a bound.
func answerValue(answer string, l locale) (*big.Rat, bool) {
	c := cleanNumbers(answer)
	tokens := scanNumbers(c.text, l, true)
	if len(tokens) == 0 {
		v, _, _ := numberWords(c.text)
		return v, v != nil
	}
	if tokens[0].hedge != "" {
		return nil, false
	}
	return tokens[0].value()
}

// FuzzParseNumber: a number written out as a decimal or a fraction is read back
// as itself, and whatever is read is read alike with blanks around it.
func FuzzParseNumber(f *testing.F) {
	for _, seed := range []string{"0", "-1", "1,234.5", "1/2", "3 1/2", "½", `\frac{-1}{3}`, "1e-5", "$18.00", "20%", "1.234,5", "1'000", "2 million", "eighteen", "١٨", "..1", "1e9999", "0,5"} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, s string, loc uint8) {
		l, err := findLocale(fuzzLocales[int(loc)%len(fuzzLocales)])
		require.NoError(t, err)
		v, err := parseNumber(s, l)
		if err != nil {
			return
		}
		padded, err := parseNumber(" "+s+" \n", l)
		require.NoError(t, err, "%q", s)
		require.Zero(t, v.Cmp(padded))
		if text := v.RatString(); len(text) < maxNumberDigits {
			back, err := parseNumber(text, l)
			require.NoError(t, err, "%q was read as %s", s, text)
			require.Zero(t, v.Cmp(back), "%q was read as %s, and that as %s", s, text, back.RatString())
		}
	})
}

// fragments are what numeric answers are made of. Put together at random they
// reach corners that a fuzzer needs hours for.
var fragments = []string{
	"18", "1", "9", "2", "20", "4,2", "1,000", "1.000", "-", "–", "−", "+", " ", "  ", "\n", "\n\n", "$", "%", "#### ", "####", "Answer:", "The answer is ", `\boxed{`, "}", "{", "(", ")", "[", "]",
	"*", "**", "_", "`", ".", ",", "!", "?", ":", ";", "=", "≈", "<", ">", "~", "/", "×", "x", "½", `\frac{1}{2}`, `\text{`, " and ", " or ", " million", " to ", "eighteen", " dollars", "km", "th",
	"<think>", "</think>", "Wait, ", "Question:", "A:", "<answer>", "</answer>", `{"answer": `, "not ", "about ", "e3", "^", "²", "\u200b", "\u00a0", "１８", "<b>", "</b>", "~~", "<<9*2=18>>", " is ",
	"答案", "是", "1/2", "3:4", "Step ", "1. ", "- ", " or more", " (", "->", "=>", "<=", "twice ", "\xff", " in ", " from ", "Note: ", " because ", "half", "a ", "; ", "Check: ", "minus ", " of ", "each ", "’", "'", "\\(", "\\)", `\sqrt{`, " hours ", "k", "…", "No, ", `\,`, "{,}",
}

// TestNumericFragments checks the properties of FuzzNumeric on texts made of
// fragments, the same ones in every run.
func TestNumericFragments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 77))
	for range 4000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
		checkNumeric(t, b.String(), "18", fuzzLocales[r.IntN(len(fuzzLocales))])
	}
}

// hostile are texts that cost a careless grader minutes or gigabytes: unit is
// repeated between head and tail.
var hostile = []struct{ name, head, unit, tail string }{
	{"digits", "", "9", ""},
	{"marked digits", "#### ", "9", ""},
	{"zeros", "Answer: 0.", "0", "18"},
	{"brackets", "", "(", ""},
	{"braces", "", "{", ""},
	{"nested boxes", "", `\boxed{`, "18"},
	{"fractions", "", `\frac{1}{`, ""},
	{"markers", "", "#### ", ""},
	{"marked", "", "Answer: 18\n", ""},
	{"answers", "", "answer ", ""},
	{"the answer to", "", "the answer to ", ""},
	{"A:", "", "A:\n", ""},
	{"fields", "", `"answer":`, ""},
	{"field strings", "", `"answer":"`, ""},
	{"field lists", "", `"answer":[`, ""},
	{"think", "", "<think>", ""},
	{"think closed", "", "</think>", ""},
	{"think pairs", "", "<think></think>", "18"},
	{"less than", "", "<", ""},
	{"tags", "", "<b", ""},
	{"questions", "18\n", "Question:\n", ""},
	{"inline questions", "#### 18 ", "Question: ", ""},
	{"commas", "", "1,", ""},
	{"blanks", "1", " ", "1"},
	{"groups", "1", " 000", ""},
	{"slashes", "", "1/", ""},
	{"colons", "", "1:", ""},
	{"operators", "Answer: ", "1+", "1"},
	{"equals", "", "1=", ""},
	{"stars", "", "*", ""},
	{"tildes", "", "~~", ""},
	{"dollars", "", "$", ""},
	{"minus", "", "-", "1"},
	{"wait", "#### 1\n", "Wait, ", ""},
	{"notes", "", "<<", ""},
	{"words", "Answer: ", "one ", ""},
	{"vulgar", "", "½", ""},
	{"superscripts", "10", "²", ""},
	{"invisible", "", "\u200b", "18"},
	{"invalid", "", "\xff", ""},
	{"channels", "", "<|channel|>final<|message|>", ""},
	{"exponent", "1e", "9", ""},
	{"lines", "", "\n", "18"},
	{"hash lines", "", "#### x\n", ""},
	{"quotes", "", "> ", "18"},
	{"backslashes", "", `\`, ""},
	{"sentences", "Answer: 1. ", "No. ", ""},
	{"numbers", "", "1 ", ""},
	{"or", "", "1 or ", ""},
	{"entities", "", "&", ""},
	{"letters", "", "a", "1"},
	{"dots", "", "1.", ""},
	{"circumstances", "Answer: the hens lay some ", "in 1 ", ""},
	{"reasons", "Answer: the hens lay some ", "1 because ", ""},
	{"open notes", "Answer: the hens lay some ", "(1 ", ""},
	{"shares", "Answer: the hens lay some ", "1 and a half ", ""},
	{"afterwords", "1 ", "Note: 1. ", ""},
	{"checks", "1\n", "Check: 1\n", ""},
	{"turn headings", "18\n", "### Problem 2\n", ""},
	{"functions", "", "sqrt(1) ", ""},
	{"joined boxes", "", "\\boxed{1} or ", ""},
	{"unfinished", "", "The answer is ", ""},
	{"closed boxes", "", `\boxed{`, "18" + strings.Repeat("}", 1<<17)},
}

// hostileText returns the text called name, about size bytes long.
func hostileText(t testing.TB, name string, size int) string {
	for _, h := range hostile {
		if h.name == name {
			return h.head + strings.Repeat(h.unit, size/len(h.unit)) + h.tail
		}
	}
	t.Fatalf("no hostile text is called %q", name)
	return ""
}

// TestNumericHostile grades 64 KiB of everything hostile, and a megabyte of
// what is cheapest to write. A text of eight times the length may cost eight
// times as much, and with the noise of a busy machine four times that, three
// times in a row: a quadratic step costs sixty-four.
func TestNumericHostile(t *testing.T) {
	const short, long = 1 << 13, 1 << 16
	cost := func(name string, size int) time.Duration {
		text := hostileText(t, name, size)
		began := time.Now()
		v := gradeNumber(t, Numeric(), text, "18")
		assert.Less(t, len(v.Why), 2048, name)
		return time.Since(began)
	}
	for _, h := range hostile {
		few, many := cost(h.name, short), cost(h.name, long)
		for tries := 1; many > 32*few+20*time.Millisecond; tries++ {
			require.Less(t, tries, 3, "%s: %s for %d bytes, %s for %d: not linear", h.name, few, short, many, long)
			few, many = max(few, cost(h.name, short)), min(many, cost(h.name, long))
		}
	}
	for _, name := range []string{"digits", "nested boxes", "think"} {
		cost(name, 1<<20)
	}
}

func BenchmarkNumeric(b *testing.B) {
	text := "Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.\nShe makes 9 * 2 = $<<9*2=18>>18 every day at the farmer's market.\n#### 18"
	item := dataset.Item{ID: "1", Target: "18"}
	g := Numeric()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := g.Grade(context.Background(), item, llm.Response{Text: text}); err != nil || v.Mark != Correct {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkNumericHostile reports the time for a megabyte of open boxes.
func BenchmarkNumericHostile(b *testing.B) {
	text := hostileText(b, "nested boxes", 1<<20)
	g, item := Numeric(), dataset.Item{ID: "1", Target: "18"}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := g.Grade(context.Background(), item, llm.Response{Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}
