package result_test

import (
	"fmt"
	"os"
	"time"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// Write a journal, find it again, and read it.
func Example() {
	root, err := os.MkdirTemp("", "journals")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)

	dir := result.Dir(root, "example.com/shop", "example.com/shop/bot", "TestSupport")
	w, err := result.Create(result.NewPath(dir, time.Now()), result.Header{Test: "TestSupport", Samples: 1, Attempts: 3})
	if err != nil {
		panic(err)
	}
	for id, text := range []string{"Yes, within 30 days.", "I do not know."} {
		rec := result.Record{
			Item:     result.Item{ID: fmt.Sprint("ticket-", id+1), Target: "Yes, within 30 days."},
			Response: &llm.Response{Text: text}, Outcome: result.Incorrect,
		}
		if text == rec.Item.Target {
			rec.Outcome, rec.Score = result.Correct, 1
		}
		if err := w.Write(&rec); err != nil {
			panic(err)
		}
	}
	if err := w.Close(result.End{Complete: true}); err != nil {
		panic(err)
	}
	if err := result.SetLatest(dir, w.Path()); err != nil {
		panic(err)
	}

	path, err := result.LatestUnder(root)
	if err != nil {
		panic(err)
	}
	j, err := result.Read(path)
	if err != nil {
		panic(err)
	}
	fmt.Println(j.Header.Test, "complete:", j.End.Complete)
	for _, rec := range j.Records {
		fmt.Println(rec.Item.ID, rec.Outcome)
	}
	// Output:
	// TestSupport complete: true
	// ticket-1 correct
	// ticket-2 incorrect
}
