package grade

import "strings"

// The words of the phrases in which somebody chooses.
var (
	// chooseWords end "I choose", "we would pick", and "choose" at the start
	// of a clause.
	chooseWords = wordSet(`suppose lean leaning vote choose chose chosen choosing pick picked picking select selected selecting say
		saying guess prefer favor favour mark marked believe think`)
	// imperatives are those that may begin a clause.
	imperatives = wordSet(`choose choosing pick picking select selecting going go leaning opt mark`)
	// leads come before prepositions.
	leads = wordSet(`respond responding go going went lean leaning leans opt opted opting vote voting settle settled stick sticking
		answer`)
	prepositions = wordSet(`with for to towards toward on`)
	// subjects are who chooses; between them and the verb stand modals.
	subjects = wordSet(`i we i'd i'll i'm i've we'd we'll let's me us`)
	modals   = wordSet(`would will am are have should must can could might may shall therefore thus think believe to definitely
		strongly finally also still only just really had hereby be then now so do`)
	// duties let others choose: "you should choose".
	duties          = wordSet(`should must`)
	others          = wordSet(`you one`)
	answerNouns     = wordSet(`answer ans antwort respuesta réponse`)
	conclusionWords = wordSet(`so therefore thus hence ergo consequently daher donc quindi`)
)

// cue returns the name of the phrase that ends with the last word, and what it
// does. rest is the text behind the word.
func (h *history) cue(rest string) (name string, does effect) {
	w, prev := h.back(0), h.back(1)
	switch {
	case chooseWords[w] && (h.subject(1) || h.opens(0) && imperatives[w] || duties[prev] && others[h.back(2)]):
		return w, thenText
	case prepositions[w] && leads[prev] && (h.subject(2) || h.opens(1) && imperatives[prev]):
		return prev + " " + w, thenText
	case answerNouns[w] && startsCapital(rest):
		return w, thenLetter
	}
	for _, p := range phrases[w] {
		if p.fits(h, rest) {
			return h.lastWords(len(p.words)), p.effect
		}
	}
	return "", noPhrase
}

// lastWords returns the last n words.
func (h *history) lastWords(n int) string {
	var words []string
	for i := n - 1; i >= 0; i-- {
		words = append(words, h.back(i))
	}
	return strings.Join(words, " ")
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
		before := h.back(i + 1)
		switch {
		case !deniers[w], w == "suppose" && before == "i", w == "claim" && (before == "the" || before == "this" || before == "that"):
		default:
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
