package grade

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The words of the phrases that choose. A phrase is found by its last word.
var (
	// chooseWords end "I choose", "we would pick", and "choose" at the start
	// of a clause.
	chooseWords = wordSet(`suppose lean leaning vote choose chose chosen choosing pick picked picking select selected selecting say saying guess prefer
		favor favour mark marked believe think`)
	// imperatives are those that may begin a clause.
	imperatives = wordSet(`choose choosing pick picking select selecting going go leaning opt mark`)
	// leads come before "with", "for", "to", "on".
	leads = wordSet(`respond responding go going went lean leaning leans opt opted opting vote voting settle settled stick sticking answer`)
	// subjects are who chooses; between them and the verb stand modals.
	subjects = wordSet(`i we i'd i'll i'm i've we'd we'll let's me us`)
	modals   = wordSet(`would will am are have should must can could might may shall therefore thus think believe to definitely
		strongly finally also still only just really had hereby be then now so do`)
	// pointers come before "option" and the like.
	pointers = wordSet(`matching corresponds corresponding fits equals is matches match to with indicates indicate suggests suggest supports support gives give yields yield
		leaving leaves us only`)
	optionWords = wordSet(`option choice answer letter`)
	thirds      = wordSet(`it this that statement claim assertion proposition hypothesis sentence`)
	isForms     = wordSet(`is be`)
	certain     = wordSet(`must should would to only can has have will clearly definitely therefore thus actually probably`)
	itsForms    = wordSet(`it's that's c'est`)
	myNouns     = wordSet(`pick choice guess vote selection`)
	answerNouns = wordSet(`answer ans antwort respuesta réponse`)
	// conclusionWords end a train of thought and overrule what came before.
	conclusionWords = wordSet(`so therefore thus hence ergo consequently daher donc quindi`)
	// takebacks take an answer back.
	takebacks = wordSet(`actually wait correction sorry no rather instead hmm oops mean meant make thought reflection change`)
	foreign   = wordSet(`wähle nehme choisis choisirais elijo escojo escolho scelgo wybieram kies выбираю chọn escolho väljer vælger velger valitsen választom seçiyorum pilih`)
)

// cue returns the name of the phrase that ends with the last word, whether it
// takes back what was said before, and whether an option's text may follow.
// rest is the text behind the word.
func (h *history) cue(rest string) (name string, turn, text bool) {
	w, prev := h.back(0), h.back(1)
	switch {
	case chooseWords[w]:
		if h.subject(1) || h.opens(0) && imperatives[w] || (prev == "should" || prev == "must") && (h.back(2) == "you" || h.back(2) == "one") {
			return w, false, true
		}
	case (w == "with" || w == "for" || w == "to" || w == "towards" || w == "toward" || w == "on") && leads[prev]:
		if h.subject(2) || h.opens(1) && imperatives[prev] {
			return prev + " " + w, false, true
		}
	case itsForms[w], w == "was" && thirds[prev], isForms[w] && (thirds[prev] || thirds[h.back(2)] && certain[prev]):
		return "it is", false, true
	case isForms[w] && prev == "to" && (h.back(2) == "has" || h.back(2) == "have" || h.back(2) == "got") && thirds[h.back(3)],
		isForms[w] && prev == "only" && thirds[h.back(3)]:
		return "it must be", false, true
	case w == "elimination" && (prev == "by" || prev == "of"):
		return "by elimination", true, false
	case w == "leaving", w == "leaves" && !h.denied(), w == "with" && (prev == "left" || prev == "leaves" || h.back(2) == "leaves"), w == "us" && prev == "leaves":
		return "leaves", true, false
	case w == "to" && (prev == "corresponds" || prev == "corresponding" || prev == "points" || prev == "equal"), w == "matches", w == "matching":
		return prev + " " + w, false, false
	case w == "supports", w == "favors", w == "favours", w == "indicates", w == "suggests":
		return w, false, false
	case w == "probably", w == "likely" && prev == "most":
		return w, false, false
	case (w == "edit" || w == "update" || w == "updated" || w == "revised") && strings.HasPrefix(rest, ":"):
		return "correction", true, true
	case w == "conclusion" && prev == "in", w == "conclude" && prev == "to", w == "summary" && prev == "in":
		return w, true, false
	case isForms[w] && (myNouns[prev] && h.back(2) == "my" || prev == "would" && myNouns[h.back(2)]):
		return "my pick is", false, true
	case myNouns[w] && strings.HasPrefix(strings.TrimLeft(rest, " \t"), ":"):
		return w, false, true
	case optionWords[w] && pointers[prev]:
		return prev + " " + w, false, false
	case answerNouns[w] && startsCapital(rest):
		return w, false, false
	case conclusionWords[w], w == "tanto" && (prev == "por" || prev == "lo"):
		return w, true, false
	case foreign[w]:
		return w, false, true
	}
	return h.correction(w, prev, rest)
}

func (h *history) correction(w, prev, rest string) (name string, turn, text bool) {
	switch w {
	case "no":
		r, size := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
		if size == 0 || strings.ContainsRune(",.;:!-–—\n", r) {
			return w, true, true
		}
	case "actually", "wait", "correction", "sorry", "rather", "instead", "hmm", "oops":
		return w, true, true
	case "mean", "meant":
		if prev == "i" {
			return w, true, true
		}
	case "that", "it":
		if prev == "make" {
			return "make", true, true
		}
	case "thought", "reflection":
		if prev == "on" || prev == "second" {
			return w, true, true
		}
	case "to":
		for i := 1; i <= 3; i++ {
			if b := h.back(i); b == "change" || b == "changed" || b == "revise" || b == "revised" || b == "correct" {
				return "change", true, true
			}
		}
	}
	return "", false, false
}

// subject reports whether the words from the i-th last backward are modals and
// then one who chooses.
func (h *history) subject(i int) bool {
	for ; i < len(h.words); i++ {
		switch w := h.back(i); {
		case subjects[w]:
			return true
		case !modals[w]:
			return false
		}
	}
	return false
}

// opens reports whether a clause begins with the i-th last word.
func (h *history) opens(i int) bool {
	at := len(h.words) - 1 - i
	if at < 0 || h.back(i) == "" {
		return false
	}
	return h.words[at].fresh || at > 0 && conclusionWords[h.words[at-1].low]
}

// deniers turn the clause behind them around, make it a condition, or say that
// somebody else speaks.
var deniers = wordSet(`not never neither nor cannot if whether unless were why suppose supposing assuming might claim claims
	says said thinks people students someone some others many don't doesn't didn't isn't aren't wasn't won't wouldn't
	can't couldn't shouldn't would've`)

// denied reports whether a word of the last one's clause denies or doubts it.
func (h *history) denied() bool {
	for i := range h.words {
		w := h.back(i)
		if w == "" {
			return false
		}
		if deniers[w] && !(w == "suppose" && h.back(i+1) == "i") && !(w == "claim" && thirds[h.back(i+1)] || w == "claim" && h.back(i+1) == "the") {
			return true
		}
	}
	return false
}

func startsCapital(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\"'([{")
	return rest != "" && isUpper(rest[0])
}

// hanPhrases choose in Chinese and Japanese, where no spaces help.
var hanPhrases = []string{"よって", "したがって", "我选择", "我选", "我選擇", "我選", "选择", "選擇", "應選", "应选", "故选", "故選", "因此", "所以", "選ぶのは", "选", "選"}

func hanPhrase(s string) string {
	if s[0] < 0xE0 {
		return ""
	}
	for _, p := range hanPhrases {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

// markWords announce a choice where a colon, an equals sign, a dash or a word
// for "is" follows; praiseWords and nouns make one together ("correct option
// is").
var (
	markWords = wordSet(`soln key assistant model output ai response result pick guess fit winner choice option selection selected solution lösung conclusion verdict decision auswahl elección choix
		scelta escolha opción opção opzione lettre letra lettera letter выбор вариант correct right best proper final one
		correcta correcto correcte correta corretta corretto richtige richtig`)
	praiseWords = wordSet(`correct right best proper`)
	hanMarks    = []string{"正确选项", "正確選項", "选项", "選項", "正解"}
)

// otherMarks returns the places where a word of markWords announces a choice.
func otherMarks(t string) []answerMark {
	var marks []answerMark
	prev := ""
	for i := 0; i < len(t); {
		first := t[i]
		if first >= 0xE0 {
			for _, w := range hanMarks {
				if strings.HasPrefix(t[i:], w) && !isBlank(t[i+len(w):]) {
					end := len(t) - len(strings.TrimLeft(t[i+len(w):], "是为為はが: "))
					marks = append(marks, answerMark{kind: markColon, name: otherMark, start: i, end: end, stop: len(t)})
					break
				}
			}
		}
		end := wordEnd(t, i)
		if end == i {
			if first != ' ' {
				prev = ""
			}
			i++
			continue
		}
		w := strings.ToLower(t[i:min(end, i+24)])
		n := 0
		if (markWords[w] || askedNouns[w]) && (w != "one" || praiseWords[prev]) && (plurals[w] == nil || plurals[w][prev]) {
			n = announces(t[end:], markWords[w])
		}
		if n > 0 {
			marks = append(marks, answerMark{kind: markColon, name: otherMark, start: i, end: end + n, stop: len(t)})
		}
		prev, i = w, end
	}
	return marks
}

var (
	// askedNouns announce a choice before the verbs of longIs only.
	askedNouns = wordSet(`answer answers options choices letters option choice one`)
	// plurals need a word before them: the options are all of them.
	plurals = map[string]map[string]bool{"options": praiseWords, "choices": praiseWords, "letters": praiseWords,
		"answers": wordSet(`correct right best proper the my final two three`)}
	// longIs are further ways to say "is".
	longIs = regexp.MustCompile(`^(?i)["'*_]*\s*(?:\?\s|\]|--|(?:are|is going to be|has to be|have to be|had to be|can only be|could only be|must only be|may well be|` +
		`turns out to be|is (?:\.\.\.|…)|(?:that|which|with|among|from)\s[^.;:?!\n]{1,80}?\s(?:is|are|would be|must be))(?::|\s))`)
	longNot = regexp.MustCompile(`(?i)\b(?:not|never|least|wrong|incorrect|false)\b|n't\b`)
)

// announces returns the length of the colon, dash or word for "is" at the
// start of s, wrapping before it included. Short says whether a word alone,
// such as a colon, will do.
func announces(s string, short bool) int {
	if words := longIs.FindString(s[:min(len(s), 200)]); words != "" && !longNot.MatchString(words) {
		return len(words)
	}
	if !short {
		return 0
	}
	lead := len(s) - len(strings.TrimLeft(s, "\"'*_` \t"))
	if n := separator(s, 0, lead); n > 0 {
		return lead + n
	}
	if lead > 0 {
		if n := isWord(s[lead:]); n > 0 {
			return lead + n
		}
	}
	return 0
}
