package fake

// The words of answers. Each is one token in all common tokenizers when a space
// stands before it, and the first one without, too; see evaltest/load/token.
var replyWords = [...]string{
	" the", " water", " house", " river", " morning", " paper", " garden", " window",
	" music", " winter", " road", " family", " market", " island", " story", " letter",
}

// word is token k of an answer. A chat's begins without a space; a completion's
// goes on with the prompt.
func word(k int, what target) string {
	w := replyWords[k%len(replyWords)]
	if k == 0 && what == chat {
		return w[1:]
	}
	return w
}

// appendWords appends the tokens from to to-1.
func appendWords(b []byte, what target, from, to int) []byte {
	for k := from; k < to; k++ {
		b = append(b, word(k, what)...)
	}
	return b
}
