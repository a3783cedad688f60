package grade

// WithoutReasoning returns text without what a model thought aloud in it:
// <think> blocks and their kin, in any case and with attributes, and the
// analysis channels of <|channel|> transcripts, as every grader of this package
// leaves them out. A closing tag without an opening one ends a block that the
// chat template had opened.
//
// whole is false if a block never ends, or if text is nothing but reasoning:
// the model had not finished thinking, and nothing in rest is its answer.
func WithoutReasoning(text string) (rest string, whole bool) {
	rest, incomplete := stripReasoning(text)
	return rest, !incomplete
}
