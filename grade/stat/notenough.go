package stat

import "fmt"

// A NotEnough is the error of a method that was given fewer data than it
// needs. It says nothing about the data: more of the same will do. Find it
// with errors.As.
type NotEnough struct {
	// Method names what was asked for, such as "t interval".
	Method string
	// Have is what there is and Need the smallest number that would do, both
	// counted in What.
	Have, Need int
	// What is counted, in the plural: "items", "groups", "samples".
	What string
}

// Error is one sentence: "stat: t interval: not enough data: it needs at least
// 2 scores, and there is 1".
func (e *NotEnough) Error() string {
	is := "are"
	if e.Have == 1 {
		is = "is"
	}
	return fmt.Sprintf("stat: %s: not enough data: it needs at least %d %s, and there %s %d",
		e.Method, e.Need, e.What, is, e.Have)
}

// An Undefined is the error of a method whose result does not exist for the
// data, however many there are: kappa of two raters who always say the same
// word, or a correction by a judge that is no better than a coin. Find it with
// errors.As.
type Undefined struct {
	// Method names what was asked for, such as "kappa".
	Method string
	// Why says what in the data rules it out, and what would help.
	Why string
}

// Error is the method and why.
func (e *Undefined) Error() string { return "stat: " + e.Method + " is undefined: " + e.Why }
