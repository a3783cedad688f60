package judge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// A block is one piece of data that a judge reads: a name in capitals and a
// text from outside.
type block struct {
	name string
	text string
	// most is how many bytes of the text are shown, as it is spelled out; the
	// middle is left out of a longer one. 0 for no limit.
	most int
}

// nonceKey keeps a nonce from being the plain hash of anything.
var nonceKey = []byte("github.com/goevals/evals/judge: nonce")

// nonceOf returns what tells the delimiters of these texts from any that stand
// in them: 16 hexadecimal digits that none of the texts holds. It depends on
// the texts alone: a nonce drawn by chance would make every request another
// one, and a recording would never be found again. An author who knows the key
// would still have to find a text that holds its own HMAC.
func nonceOf(texts ...string) string {
	for n := 0; ; n++ {
		h := hmac.New(sha256.New, nonceKey)
		h.Write([]byte(strconv.Itoa(n)))
		for _, t := range texts {
			h.Write([]byte(strconv.Itoa(len(t)) + ":"))
			h.Write([]byte(t))
		}
		nonce := hex.EncodeToString(h.Sum(nil)[:8])
		taken := false
		for _, t := range texts {
			taken = taken || strings.Contains(t, nonce)
		}
		if !taken {
			return nonce
		}
	}
}

// delimit writes blocks one under the other, each between delimiters with a
// nonce that none of them holds, and returns the nonce. Nothing in a text is
// taken for a template. left is how many bytes were left out of the blocks.
//
// Everything that a judge is given from outside goes through it.
func delimit(blocks ...block) (text, nonce string, left int) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.text
	}
	nonce = nonceOf(texts...)
	var out strings.Builder
	for i, b := range blocks {
		if i > 0 {
			out.WriteString("\n\n")
		}
		shown, n := shorten(b.text, b.most)
		left += n
		if n > 0 {
			head, tail := shown[0], shown[1]
			shown[0] = neutral(head) + "\n[" + strconv.Itoa(n) + " BYTES LEFT OUT " + nonce + "]\n" + neutral(tail)
		} else {
			shown[0] = neutral(shown[0])
		}
		out.WriteString("[BEGIN " + b.name + " " + nonce + "]\n")
		out.WriteString(shown[0])
		out.WriteString("\n[END " + b.name + " " + nonce + "]")
	}
	return out.String(), nonce, left
}

// delimiters are what a text may hold to look like one of ours or like the
// control tokens of a chat template, which some servers obey wherever they stand.
var delimiters = regexp.MustCompile(`(?i)^(?:\[[ \t]*(?:/?INST\b|BEGIN\b|END\b|\d+[ \t]+BYTES\b)|<\|[a-z_]|</?(?:start|end)_of_turn>)`)

// neutral puts a dot into each delimiter that a text brings along.
func neutral(s string) string {
	var b strings.Builder
	for { // only where one may begin: the whole of a long answer is slow to search
		i := strings.IndexAny(s, "[<")
		if i < 0 {
			break
		}
		b.WriteString(s[:i+1])
		if delimiters.MatchString(s[i:]) {
			b.WriteString("·")
		}
		s = s[i+1:]
	}
	if b.Len() == 0 {
		return s
	}
	return b.String() + s
}
