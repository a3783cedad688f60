package grade

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// This file reads what calls an option right or wrong: "B is the best answer".

const (
	praiseVerbs   = `(?:is|are|was|were|would be|must be|has to be|have to be|should be|seems(?: like)?|appears|looks(?: like)?|remains(?: as)?|stands out as|comes out as)`
	praiseAdverbs = `(?:(?:to be|clearly|definitely|obviously|likely|probably|actually|certainly|undoubtedly|indeed|also|therefore|thus|hence|then|absolutely|evidently|apparently|surely|simply|truly|still|both|all|by far|very|indeed) )*`
	praiseWord    = `(?:correct|right|best|better|more (?:accurate|appropriate|likely|plausible|suitable|precise)|true|accurate|most (?:accurate|appropriate|likely|plausible|suitable|correct|fitting|logical|reasonable|precise))`
	praiseNoun    = `(?:answer|option|choice|one|letter|solution|pick|response|statement|explanation|description|conclusion|interpretation|match|candidate|fit)s?`
)

var (
	praise = regexp.MustCompile(`^(?i)(?:` + praiseVerbs + ` ` + praiseAdverbs +
		`(?:(?:(?:the|my|our) )?(?:(?:single|only|one and only) )?` + praiseWord + `(?: (?:and \w+ )?` + praiseNoun + `)?` +
		`|an? ` + praiseWord + ` ` + praiseNoun +
		`|(?:the|my|our) (?:(?:single|only|final|obvious|clear|appropriate|suitable) )*` + praiseNoun +
		`)|(?:makes (?:the )?(?:most|best|more|perfect) sense|(?:fits|works|matches) best|remains))\b`)
	// afterPraise is what may follow those words; "the best student" is none.
	afterPraise = regexp.MustCompile(`^(?i)[\s"')\]]*(?:$|[^\p{L}\p{N}\s]|\n|(?:and|but|because|since|as|here|for|in|of|to|given|according|while|whereas|so|that|which|among|` +
		`based|due|by|with|on|at|when|if|unless|until|than|out|overall|left|remaining|standing|not|rather|from|this|too|also|i|we|hence|therefore|thus|provided|sometimes|up|only|except|though|although)\b)`)
	// hedgedPraise follows praise that is none: it holds in some case.
	hedgedPraise = regexp.MustCompile(`^(?i),?\s*(?:but (?:it|that|this|not|irrelevant|incomplete|does|too)\b|(?:but )?(?:only )?(?:(?:than|at first|initially|if|unless|until|when|provided|sometimes|in some|in certain|for some|up to a point|except)\b|\?))`)
	// alone praises an option behind "only".
	alone = regexp.MustCompile(`^(?i)(?:is|are|remains?|works?|fits?|satisf(?:y|ies)|match(?:es)?|meets?|holds?|fulfil(?:l?s)?|qualif(?:y|ies)|appl(?:y|ies)|makes? sense|can be (?:right|correct|true))\b`)
	// blame is the contrary of praise.
	blame = regexp.MustCompile(`^(?i)(?:(?:is|are|was|were|would be|must be|seems|can|could)(?:n't| not|not| never| also not| (?:clearly |obviously |simply |definitely )?(?:wrong|incorrect|false|excluded|impossible|out|eliminated|ruled out))|fails?\b|makes (?:no|little)\b|does(?:n't| not)|do(?:n't| not)|cannot)\b`)

	isEllipsis = regexp.MustCompile(`^(?i)is\s*(?:[.!;]|$)`)
	denial     = regexp.MustCompile(`(?i)(?:\bnot|n't|\bwrong|\bincorrect)\b[^.!?]*[;,.]\s*$`)

	foreignPraise = regexp.MustCompile(`^(?i)(?:(?:ist|es|est|è|é|está|estão|jest|je|är|er|is|adalah|là)\s+)?(?:(?:die|das|der|la|le|el|a|o|den|det|de|het)\s+)?` +
		`(?:(?:opción|réponse|bonne|risposta|resposta|antwort|opção|respuesta|alternativa)\s+)?` +
		`(?:richtig|korrekt|correct[ao]\b|correcte\b|corrett[ao]|corret[ao]|poprawn|prawidłow|správn|rätt|riktig|rigtig|juist|goed\b|vrai|verdadeir|verdader|esatt|giust|doğru|benar|đúng|верн|верен|правильн)`)
	foreignDoubt = regexp.MustCompile(`(?i)\b(?:nicht|no|pas|non|não|nie|не|değil|bukan)\b`)
)

// praiseLeads may stand before a letter that is called right. Another word
// makes it a part of a name: vitamin C, angle B.
var praiseLeads = wordSet(`option options choice choices answer answers letter letters statement statements sentence alternative both
	and but so that only think believe say conclude see find know sure confident mean means feel guess suspect because since while
	although though hence then thus therefore clearly here also actually now however yes case
	antwort antworten respuesta respuestas opción opciones réponse risposta resposta opção alternativa letra lettre ответ вариант
	odpowiedź jawaban svar cevap`)

// praised returns the words at the start of s that call what stands before
// them right.
func praised(s string) (words string, ok bool) {
	foreign := false
	if words = praise.FindString(s); words == "" {
		foreign = true
		if words = foreignPraise.FindString(s); words == "" || foreignDoubt.MatchString(firstWord(s[len(words):])) {
			return "", false
		}
	}
	rest := s[len(words):]
	return words, !hedgedPraise.MatchString(rest) && (foreign || afterPraise.MatchString(rest))
}

// praisedHan reports what calls the option before it right in Chinese and
// Japanese.
func praisedHan(s string) bool {
	s = strings.TrimLeft(s, ") 」】")
	for _, lead := range []string{"选项", "選項", "项", "項", "是", "为", "為", "が", "は", "最も", "最"} {
		s = strings.TrimPrefix(s, lead)
	}
	for _, p := range []string{"正确", "正確", "对的", "對的", "正解", "正しい", "適切"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			for _, not := range []string{"ではな", "じゃな", "でな", "くな", "吗", "嗎", "か"} {
				if strings.HasPrefix(rest, not) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// blamedHan reports what calls the option before it wrong.
func blamedHan(s string) bool {
	for _, lead := range []string{"也", "是", "为", "為", "は", "が"} {
		s = strings.TrimPrefix(s, lead)
	}
	for _, p := range []string{"错", "錯", "误", "誤", "間違", "まちが", "違"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	r, _ := utf8.DecodeRuneInString(s)
	return isNegation(r)
}

// praisedAt reads a letter, or a list of them, that is called right: "B is
// correct". If it is not, the list is returned.
func praisedAt(c string, at int, h *history, fresh bool, o choiceOptions) (statement, letterList, bool) {
	if !isUpper(c[at]) {
		return statement{}, letterList{}, false
	}
	if i, ok := o.index(c[at : at+1]); ok && praisedHan(c[at+1:]) {
		return statement{claim{kind: claimChoice, set: 1 << i, text: c[at : at+1], how: "phrase 正确"}, false}, letterList{}, true
	}
	const far = 200
	list := readList(c[at:min(len(c), at+far)], o)
	if list.set == 0 {
		return statement{}, list, false
	}
	after := strings.TrimLeft(list.rest, trailers)
	words, ok := praised(after)
	if !ok && fresh && isEllipsis.MatchString(after) && denial.MatchString(c[max(0, at-far):at]) {
		words, ok = "is", true // "A isn't right; B is."
	}
	if h.last() == "only" && !fresh && !ok {
		words = alone.FindString(after)
		ok = words != ""
	}
	if !ok || !fresh && (h.denied() || !praiseLeads[h.last()]) {
		return statement{}, list, false
	}
	got := claim{kind: claimChoice, set: list.set, text: list.text, how: "phrase " + quote(list.text+" "+words)}
	if list.or {
		got.kind, got.why = claimAmbiguous, "the reply hedges: "+quote(list.text)
	}
	return statement{got, false}, list, true
}

// textPraised reads "Vitamin D is the answer": a clause that is an option's
// text up to the verb at c[at:end].
func textPraised(c string, at, end int, h *history, o choiceOptions) (statement, bool) {
	if len(o.texts) == 0 || end-at > 3 || !praiseVerb[c[at:end]] || h.denied() {
		return statement{}, false
	}
	words, ok := praised(c[at:min(len(c), at+120)])
	if !ok {
		return statement{}, false
	}
	subject := c[max(0, at-o.longest):at]
	if k := strings.LastIndexAny(subject, ".;:!?\n"); k >= 0 {
		subject = subject[k+1:]
	}
	for _, text := range append([]string{subject}, suffixes(subject, "")...) {
		if set := o.withText(text); set.size() == 1 {
			return statement{claim{kind: claimChoice, set: set, text: trimBlank(text), how: "phrase " + quote(words)}, false}, true
		}
	}
	return statement{}, false
}

var praiseVerb = wordSet(`is are was`)
