// Package gsm8k reads GSM8K, the grade-school math word problems of
// openai/grade-school-math, and files in its format: rows of a question and an
// answer whose last line is "#### 18".
//
// It does not contain the problems and does not grade: grade.Numeric does.
//
// To use it:
//
//  1. Get the test split: [Fetch] downloads it once, at a pinned commit, and
//     checks every byte; or put the file where its error says.
//  2. [Load] it, or give [Options] to any loader of package dataset. Items are
//     named gsm8k-0001, gsm8k-0002, … by their row. [LoadTestSplit] is both steps.
//
// The target is the number in canonical form: "#### 1,450,000" is "1450000".
// The worked solution stays in the item's row (Item.Raw).
package gsm8k

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
)

// ErrAnswer is wrapped by what [Decode] returns for a row without a final
// integer.
var ErrAnswer = errors.New("no final integer")

// marker stands before the final answer.
const marker = "####"

// Options are what a loader needs to read GSM8K: Decode and the ids. Further
// options may follow them.
func Options() []dataset.Option {
	return []dataset.Option{dataset.Decode(Decode), dataset.AutoID(ID)}
}

// ID is the id of the n-th row, from 1: gsm8k-0001.
func ID(n int) string { return fmt.Sprintf("gsm8k-%04d", n) }

// Load loads a file in GSM8K's format. A file with a row whose answer does not
// end in an integer is refused as a whole; the error lists such rows.
func Load(path string, opts ...dataset.Option) (*dataset.Dataset, error) {
	return dataset.Load(path, append(Options(), opts...)...)
}

// Decode makes an item of a row {"question": …, "answer": "… #### 18"}, with
// an id if the row has one. It is meant for dataset.Decode; with it alone,
// rows without id are numbered 1, 2, …: see [Options].
//
// The final answer is what follows the last "####", up to the end. It must be
// an integer, which may carry thousands commas and a minus sign. Other columns
// are ignored here and stay in the item's row.
func Decode(row json.RawMessage) (dataset.Item, error) {
	// By exact name: a struct would take "Question" for "question" as well.
	var cols map[string]json.RawMessage
	if err := json.Unmarshal(row, &cols); err != nil {
		return dataset.Item{}, err
	}
	var it dataset.Item
	var answer string
	var err error
	if it.ID, err = rowID(cols["id"]); err != nil {
		return it, err
	}
	if it.Input, err = text(cols, "question"); err != nil {
		return it, err
	}
	if answer, err = text(cols, "answer"); err != nil {
		return it, err
	}
	it.Target, err = Final(answer)
	return it, err
}

// text is a column that must hold text.
func text(cols map[string]json.RawMessage, name string) (string, error) {
	raw, ok := cols[name]
	if !ok {
		return "", fmt.Errorf("the row has no %q", name)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || raw[0] != '"' {
		return "", fmt.Errorf("%q is not a text", name)
	}
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("%q is empty", name)
	}
	return s, nil
}

// rowID reads an id that is a text or a number; "" if there is none.
func rowID(raw json.RawMessage) (string, error) {
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	var n json.Number
	if raw[0] != '"' {
		if err := json.Unmarshal(raw, &n); err != nil {
			return "", errors.New("the id is neither a text nor a number")
		}
		return n.String(), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	if s == "" {
		return "", errors.New("the id is empty")
	}
	return s, nil
}

// Final returns the final answer of a GSM8K solution in canonical form: no
// commas, no leading zeros, no negative zero.
func Final(answer string) (string, error) {
	i := strings.LastIndex(answer, marker)
	if i < 0 {
		return "", fmt.Errorf("%w: the answer has no line %q with the number", ErrAnswer, marker)
	}
	text := strings.TrimSpace(answer[i+len(marker):])
	digits, negative := strings.CutPrefix(text, "-")
	valid := digits != ""
	for j, c := range []byte(digits) {
		switch {
		case c >= '0' && c <= '9':
		case c == ',' && j > 0 && j < len(digits)-1 && digits[j-1] != ',':
		default:
			valid = false
		}
	}
	if !valid {
		shown := text
		if len(shown) > 60 {
			shown = strings.ToValidUTF8(shown[:60], "") + "…"
		}
		return "", fmt.Errorf("%w: %q after the last %q is no integer", ErrAnswer, shown, marker)
	}
	// As text: a number would take the square of its length to convert.
	digits = strings.TrimLeft(strings.ReplaceAll(digits, ",", ""), "0")
	switch {
	case digits == "":
		return "0", nil
	case negative:
		return "-" + digits, nil
	}
	return digits, nil
}
