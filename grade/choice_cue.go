package grade

import (
	"strings"
	"unicode/utf8"
)

// maxStated is how many phrases of one reply are read. A reply that chooses
// more often than that chooses nothing.
const maxStated = 200

// maxPhrases is how many phrases that may choose one reply may have.
const maxPhrases = 5000

// A statement is one claim of several in a text. turn says that it takes back
// what was stated before it.
type statement struct {
	claim
	turn bool
}

// weakClaims returns what the phrases of a text state together. One that takes
// back what was said before wins; otherwise different ones contradict each
// other. hedge is the first "A or B" that stands outside of every phrase.
func weakClaims(c string, o choiceOptions) (stated, hedge claim) {
	var now claim
	n := 0
	hedge = eachStatement(c, o, func(s statement) bool {
		switch {
		case now.kind == claimNothing, s.turn, now.kind == s.kind && now.set == s.set:
			now = s.claim
		default:
			now = claim{kind: claimAmbiguous, text: s.text,
				why: "the reply states " + quote(now.text) + " and " + quote(s.text) + " without taking one back"}
		}
		n++
		return n < maxStated
	})
	if n == maxStated {
		now = claim{kind: claimAmbiguous, text: now.text, why: "the reply chooses again and again"}
	}
	return now, hedge
}

// corrected returns the last answer in c that takes back one before it by
// saying so ("actually", "no wait").
func corrected(c string, o choiceOptions) (last claim, ok bool) {
	n := 0
	eachStatement(c, o, func(s statement) bool {
		if s.turn && strings.HasPrefix(s.how, takeback) {
			last, ok = s.claim, true
		}
		n++
		return n < maxStated
	})
	return last, ok
}

// takeback begins the How of what takes an answer back.
const takeback = "correction "

// A token is a word of a text, in lower case, and where it stands.
type token struct {
	low        string
	start, end int
	fresh      bool // a clause begins with it
}

// history holds the words before and at the current one, the newest last.
type history struct{ words []token }

func (h *history) add(t token) {
	const keep = 12
	if len(h.words) == keep {
		copy(h.words, h.words[1:])
		h.words = h.words[:keep-1]
	}
	h.words = append(h.words, t)
}

// back returns the i-th last word, within the clause of the last one.
func (h *history) back(i int) string {
	at := len(h.words) - 1 - i
	if at < 0 {
		return ""
	}
	for k := at + 1; k < len(h.words); k++ {
		if h.words[k].fresh {
			return ""
		}
	}
	return h.words[at].low
}

// last returns the last word.
func (h *history) last() string {
	if len(h.words) == 0 {
		return ""
	}
	return h.words[len(h.words)-1].low
}

// eachStatement calls yield with each claim that a phrase of c makes, in
// order, until it returns false. It returns the first hedge.
func eachStatement(c string, o choiceOptions, yield func(statement) bool) (hedge claim) {
	phrases := 0
	read := func(end int, name string, does effect) bool {
		if phrases++; phrases > maxPhrases {
			yield(statement{claim: claim{kind: claimAmbiguous, why: "the reply has too many phrases that may choose"}})
			return false
		}
		s, ok := stated(c, end, name, does, o)
		return !ok || yield(s)
	}
	var h history
	fresh := true
	listEnd := 0
	for i := 0; i < len(c); {
		r, size := utf8.DecodeRuneInString(c[i:])
		if !isWordRune(r) || isUnspaced(r) {
			if phrase := hanPhrase(c[i:]); phrase != "" {
				if !read(i+len(phrase), phrase, thenText) {
					return hedge
				}
			}
			fresh = fresh || strings.ContainsRune(".,;:!?\n(→∴", r)
			if r == '→' || r == '∴' || r == '>' && i > 0 && c[i-1] == '=' {
				if !read(i+size, string(r), overrules) {
					return hedge
				}
			}
			i += size
			continue
		}
		end := wordEnd(c, i)
		if end-i == 1 && c[i] < utf8.RuneSelf && i >= listEnd {
			s, list, ok := praisedAt(c, i, &h, fresh, o)
			switch {
			case ok:
				if !yield(s) {
					return hedge
				}
			case (list.or || h.last() == "between") && list.set.size() > 1 && hedge.kind == claimNothing:
				hedge = claim{kind: claimAmbiguous, text: list.text, why: "the reply hedges: " + quote(list.text)}
			}
			listEnd = i + len(list.text)
		}
		if s, ok := textPraised(c, i, end, &h, o); ok && !yield(s) {
			return hedge
		}
		low := strings.ToLower(c[i:min(end, i+32)])
		if elided[low[:min(2, len(low))]] && len(low) > 2 && low != "c'est" {
			low = low[2:] // l'option
		}
		h.add(token{low, i, end, fresh})
		fresh = false
		if name, does := h.cue(c[end:]); does >= overrules || does != noPhrase && !h.denied() {
			if !read(end, name, does) {
				return hedge
			}
		}
		i = end
	}
	return hedge
}

// elided are the short words that French and Italian join to the next one.
var elided = wordSet(`l' d' c' n' s' j'`)

// wordEnd returns the end of the word that begins at c[i]: letters and digits,
// with hyphens and apostrophes between them.
func wordEnd(c string, i int) int {
	for i < len(c) {
		r, size := utf8.DecodeRuneInString(c[i:])
		switch {
		case isWordRune(r) && !isUnspaced(r):
		case r == '\'' || r == '-':
			if next, _ := utf8.DecodeRuneInString(c[i+size:]); !isWordRune(next) {
				return i
			}
		default:
			return i
		}
		i += size
	}
	return i
}

// stated reads the claim behind a phrase that ends at c[end].
func stated(c string, end int, name string, does effect, o choiceOptions) (statement, bool) {
	const far = 400 // an answer that a phrase states is short
	s := c[end:min(len(c), end+far)]
	if s = strings.TrimLeft(s, " \t,:;.!-–—"); s == "" || s[0] == '\n' || s[0] == '\r' {
		return statement{}, false
	}
	s = lineOf(s)
	if !hasLoneLetter(s) && !o.mayName(s) {
		return statement{}, false
	}
	got := readClaim(s, o)
	how, turn := "phrase ", does >= overrules
	if does == withdraws {
		how = takeback
	}
	got.how = how + quote(name) + ", " + got.how
	lone := got.text == "I" || got.text == "i"
	switch got.kind {
	case claimNothing:
		return statement{}, false
	case claimNone: // only a letter beyond the options is a statement
		return statement{got, turn}, len(got.text) == 1 && !lone && isUpper(got.text[0])
	case claimChoice:
		if strings.Contains(got.how, ", letter") {
			return statement{got, turn}, !lone // "so I, for one"
		}
	}
	if does != thenText && does != withdraws && got.kind == claimChoice {
		return statement{}, false
	}
	// A text must end its sentence: "it is true that" states nothing.
	rest := ""
	if i := strings.Index(s, got.text); i >= 0 {
		rest = strings.TrimLeft(s[i+len(got.text):], trailers)
	}
	return statement{got, turn}, got.kind == claimAmbiguous || rest == "" || rest[0] == '.' || rest[0] == '!'
}

// hasLoneLetter reports whether a letter, or a run of capitals, stands by
// itself in s. It is here for
// speed: most phrases state nothing.
func hasLoneLetter(s string) bool {
	for i := 0; i < len(s); i++ {
		start, capitals := i, true
		for i < len(s) && isASCIILetter(s[i]) {
			capitals = capitals && isUpper(s[i])
			i++
		}
		if i == start+1 || capitals && i > start {
			return true
		}
	}
	return false
}
