package grade

import (
	"regexp"
	"slices"
	"strings"
)

// A cue is a phrase that chooses. What stands behind it is read as behind a
// marker, but more strictly.
type cue struct {
	name string
	re   *regexp.Regexp
	// turn: it takes back what was stated before.
	turn bool
	// text: an option's text may follow instead of a letter.
	text bool
}

const chooseVerb = `(?:choose|chose|chosen|choosing|pick|picked|picking|select|selected|selecting|go(?:ing)? (?:with|for)|went (?:with|for)|lean(?:ing)? (?:to|towards?|on)|opt(?:ed|ing)? for|vote for|settled? (?:on|for)|say|saying|guess|answer(?: with)?|prefer|favou?r|stick (?:with|to)|conclude(?: that)?|marked|mark|believe|think)`

var cues = []cue{
	{name: "I choose", text: true, re: regexp.MustCompile(`(?i)\b(?:i|we|let's|let us|let me|i'd|i'll|we'd|we'll|i'm)(?: (?:would|will|am|are|have|should|must|can|could|might|may|shall|therefore|thus|think|believe|to|definitely|strongly|finally|also|still|only|just|really|had|hereby|be|then|now|so))* ` + chooseVerb + `[\s:,]+`)},
	{name: "choose", text: true, re: regexp.MustCompile(`(?im)(?:^|[.!?:;,]\s+)(?:(?:so|thus|therefore|hence|then),? )?(?:choose|pick|select|go(?:ing)? with|choosing|picking|selecting|leaning (?:to|towards?)|opt for|my (?:pick|choice|guess|vote|selection)(?: is|:| would be| goes to)|(?:my )?best guess(?::| is)|guess:)\s+`)},
	{name: "Ich wähle", text: true, re: regexp.MustCompile(`(?i)(?:\b(?:ich (?:wähle|nehme)|je (?:choisis|choisirais)|elijo|escojo|escolho|scelgo|ik kies|wybieram)|выбираю)\s+|(?:我选择?|我選擇?|选择?|選擇?|選ぶのは)`)},
	{name: "it is", text: true, re: regexp.MustCompile(`(?i)\b(?:it|this|that)(?:'s| is| must be| should be| has to be| would be| can only be) `)},
	{name: "answer", re: regexp.MustCompile(`(?i)\b(?:answer|antwort|respuesta|réponse)\s+`)},
	{name: "points to option", re: regexp.MustCompile(`(?i)\b(?:is|matches|match|corresponds? (?:to|with)|points? (?:us )?to|indicates?|suggests?|supports?|leads? (?:us )?to|gives?|yields?|leaving|leaves|leaves us with|only) (?:option|choice|answer|letter)\s+`)},
	{name: "so", turn: true, re: regexp.MustCompile(`(?i)(?:^|[\s(,;:.])(?:so|therefore|thus|hence|ergo|consequently|daher|donc|por (?:lo )?tanto|quindi|→|=>|∴)[,:]?\s+|(?:因此|所以)[,:]?\s*`)},
	{name: "actually", turn: true, text: true, re: correcting},
}

// correcting is what withdraws an answer just given.
var correcting = regexp.MustCompile(`(?i)\b(?:actually|wait|correction|sorry|no|rather|instead|i mean|i meant|make that|make it|scratch that|(?:change|revise|correct)d? (?:it |that |this |my answer |the answer )?to|hmm|oops|on second thought|on reflection)\b[\s,.:;!—–-]*` +
	`(?:(?:it'?s|it is|it should be|it must be|should be|must be|the answer (?:is|should be)|i mean|i meant|make that|make it|option|choice|to|that's|wait|actually|no|not [A-Z]|i'd (?:say|go with|pick|choose)|go with|choose|pick)[\s,:;.]+)*`)

// praised is an option that is called right: B is correct, A and B are correct.
var praised = regexp.MustCompile(`(?:^|[^\pL\pN'_-])["'(\[]*([A-Z](?:[)"'\]]*(?:\s*[,&/]\s*(?:and |or )?|\s+(?:and|or|nor)\s+)(?:[Oo]ption )?["'(\[]*[A-Z])*)["')\]]*\s+((?i:is|are|was|were|must|would|has|seems|appears|looks)\s[^.!?\n]{0,80})`)

// praisedHan is the same in Chinese.
var praisedHan = regexp.MustCompile(`([A-Z])(?:选项|選項|項|项)?(?:是|为|為)?(?:正确|正確|对的|對的|正解)`)

// A placed claim is one of several in a text.
type placedClaim struct {
	claim
	at   int
	turn bool
}

// weakClaims returns what the phrases of a text state together. One that takes
// back what was said before wins; otherwise different ones contradict each
// other.
func weakClaims(c string, o choiceOptions) claim {
	var all []placedClaim
	for _, q := range cues {
		all = append(all, q.claims(c, o)...)
	}
	all = append(all, praiseClaims(c, o)...)
	slices.SortStableFunc(all, func(a, b placedClaim) int { return a.at - b.at })
	var now claim
	for _, p := range all {
		switch {
		case now.kind == claimNothing, p.turn, now.kind == p.kind && now.set == p.set:
			now = p.claim
		default:
			now = claim{kind: claimAmbiguous, text: p.text,
				why: "the reply states " + quote(now.text) + " and " + quote(p.text) + " without taking one back"}
		}
	}
	return now
}

func (q cue) claims(c string, o choiceOptions) []placedClaim {
	var out []placedClaim
	for _, m := range q.re.FindAllStringIndex(c, -1) {
		if negatedBefore(c, m[0]) && !q.turn {
			continue
		}
		got, ok := q.read(c[m[1]:min(len(c), m[1]+maxPayload)], o)
		if ok {
			got.how = "phrase " + quote(strings.TrimSpace(c[m[0]:m[1]])) + ", " + got.how
			out = append(out, placedClaim{got, m[1], q.turn})
		}
	}
	return out
}

// read reads what stands directly behind a phrase.
func (q cue) read(s string, o choiceOptions) (claim, bool) {
	if strings.HasPrefix(s, "\n") || strings.TrimSpace(s) == "" {
		return claim{}, false
	}
	s = lineOf(s)
	got := readClaim(s, o)
	switch {
	case got.kind == claimNothing, got.kind == claimNone && len(got.text) > 1:
		return got, false
	case got.kind == claimChoice && strings.HasPrefix(got.how, "letter"):
		// "so I, for one" is no choice of I.
		return got, got.text != "I" && got.text != "i"
	case got.kind == claimNone:
		return got, got.text != "I" && isUpper(got.text[0])
	case !q.text:
		return got, false
	}
	// A text must end its sentence: "it is true that" states nothing.
	i := strings.Index(s, got.text)
	rest := ""
	if i >= 0 {
		rest = strings.TrimLeft(s[i+len(got.text):], trailers)
	}
	return got, rest == "" || strings.ContainsRune(".!", rune(rest[0]))
}

// corrected returns the last answer that a correction gives.
func corrected(c string, o choiceOptions) (claim, bool) {
	q := cue{name: "correction", re: correcting, turn: true, text: true}
	all := q.claims(c, o)
	if len(all) == 0 {
		return claim{}, false
	}
	return all[len(all)-1].claim, true
}

func praiseClaims(c string, o choiceOptions) []placedClaim {
	var out []placedClaim
	for _, m := range praised.FindAllStringSubmatchIndex(c, -1) {
		if !praise.MatchString(c[m[4]:m[5]]) || negatedBefore(c, m[2]) {
			continue
		}
		list := readList(c[m[2]:m[3]], o)
		if list.set == 0 {
			continue
		}
		got := claim{kind: claimChoice, set: list.set, text: c[m[2]:m[3]], how: "phrase " + quote(strings.TrimSpace(c[m[2]:m[5]]))}
		if list.or {
			got.kind, got.why = claimAmbiguous, "the reply hedges: "+quote(c[m[2]:m[5]])
		}
		out = append(out, placedClaim{got, m[2], false})
	}
	for _, m := range praisedHan.FindAllStringSubmatchIndex(c, -1) {
		if i, ok := o.index(c[m[2]:m[3]]); ok && gluesNothing(c[:m[2]]) {
			out = append(out, placedClaim{claim{kind: claimChoice, set: 1 << i, text: c[m[2]:m[3]], how: "phrase " + quote(c[m[0]:m[1]])}, m[2], false})
		}
	}
	return out
}

func gluesNothing(before string) bool { return !gluesBefore(before) }

// denial is what turns the clause behind it around or makes it a condition.
var denial = regexp.MustCompile(`(?i)\b(?:not|never|neither|nor|cannot|if|whether|unless|were|why|suppose|supposing|assuming|might|claims?|says|said|thinks?|people|students|someone|some|others|many)\b|n't\b`)

// negatedBefore reports whether the clause up to at denies or doubts what
// follows.
func negatedBefore(c string, at int) bool {
	clause := c[max(0, at-80):at]
	if i := strings.LastIndexAny(clause, ".,;:!?\n("); i >= 0 {
		clause = clause[i+1:]
	}
	return denial.MatchString(clause)
}

// unstated is the claim of a reply that chooses nothing: it says whether
// several options were named.
func unstated(c string, o choiceOptions) claim {
	if m := eitherOr.FindStringSubmatchIndex(c); m != nil {
		a, okA := o.index(c[m[2]:m[3]])
		b, okB := o.index(c[m[4]:m[5]])
		if okA && okB && a != b {
			text := c[m[2]:m[5]]
			return claim{kind: claimAmbiguous, text: text, why: "the reply hedges: " + quote(text)}
		}
	}
	norm := normal(c, false)
	var named choiceSet
	for i, key := range o.keys {
		if key != "" && holds(norm, key, false) {
			named |= 1 << i
		}
	}
	if named.size() > 1 {
		return claim{kind: claimAmbiguous, why: "the reply names the texts of options " + named.String() + " and chooses none"}
	}
	return claim{kind: claimNone, why: "the reply states no choice"}
}

var eitherOr = regexp.MustCompile(`(?:^|[^\pL\pN'_-])([A-Z])["')\]]*(?:\s+(?:or|oder|ou|или|o)\s+|\s*/\s*|\s*或者?\s*)(?:option )?["'(\[]*([A-Z])(?:$|[^\pL\pN'_-])`)
