package evaltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// brokenItem is a line of the list of broken items that lies beside a journal:
// those that were correct in the baseline and no longer are.
type brokenItem struct {
	ID    string `json:"id"`
	Flaky bool   `json:"flaky,omitempty"` // correct in most answers when it was asked again
	Asked int    `json:"asked,omitempty"` // how often it was asked again
	// Passed is how many of those answers are correct.
	Passed int `json:"passed,omitempty"`
}

const brokenSuffix = ".broken.jsonl"

// writeBroken writes the list of all broken items beside the journal, the ones
// that are not flaky first. It returns "" if there are none.
func writeBroken(journal string, c *gate.Comparison) (path string, err error) {
	if journal == "" || c == nil {
		return "", nil
	}
	path = beside(journal, brokenSuffix)
	if len(c.Broke) == 0 {
		os.Remove(path) // of the run that this one has gone on with
		return "", nil
	}
	var text bytes.Buffer
	for _, ch := range brokenFirst(c) {
		line, err := json.Marshal(brokenItem{ID: ch.ID, Flaky: ch.Flaky, Asked: ch.Asked, Passed: ch.Passed})
		if err != nil {
			return "", err
		}
		text.Write(append(line, '\n'))
	}
	if err := replaceFile(path, text.Bytes(), 0o600); err != nil {
		return "", fmt.Errorf("list of broken items not written: %w", err)
	}
	return path, nil
}

// brokenFirst are the items that broke, those that are flaky last.
func brokenFirst(c *gate.Comparison) []gate.ItemChange {
	var broken, flaky []gate.ItemChange
	for _, ch := range c.Broke {
		if ch.Flaky {
			flaky = append(flaky, ch)
		} else {
			broken = append(broken, ch)
		}
	}
	return append(broken, flaky...)
}

// readBroken returns the ids of the list beside a journal, in order; none if
// there is no list.
func readBroken(journal string) (ids []string, err error) {
	path := beside(journal, brokenSuffix)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var it brokenItem
		if err := dec.Decode(&it); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ids = append(ids, it.ID)
	}
	return ids, nil
}

// shownBroken is how many broken items a failed test shows.
const shownBroken = 3

// brokenItems writes the list of the broken items and, if it is on them that the run
// fails, returns what a person is shown of it.
func (r *runner) brokenItems(rep *Report) *report.Broken {
	if r.comparison == nil || rep.Narrowed {
		return nil
	}
	path, err := writeBroken(rep.Journal, r.comparison)
	if err != nil {
		r.warn("%v", err)
	}
	if !failed(rep.Decisions, gate.NoDrop, gate.MaxDrop) || len(r.comparison.Broke) == 0 {
		return nil
	}
	b := &report.Broken{List: path, Run: func(rec *result.Record) string { return r.again(subtestName(rec.Item.ID, rec.Sample)) }}
	if path != "" && !r.set.failed {
		b.Rerun = r.command() + " -evaltest.failed"
	}
	j, err := result.Read(rep.Journal)
	if err != nil {
		r.warn("the broken items cannot be shown: %v", err)
		j = &result.Journal{}
	}
	for i, ch := range brokenFirst(r.comparison) {
		b.Total++
		if ch.Flaky {
			b.Flaky++
		}
		for k := 0; k < r.set.samples && i < shownBroken; k++ {
			if rec := j.Find(result.Key{ID: ch.ID, Sample: k}); rec != nil && rec.Outcome != result.Correct {
				b.Records = append(b.Records, report.BrokenRecord{Record: rec, Change: ch})
				break
			}
		}
	}
	return b
}
