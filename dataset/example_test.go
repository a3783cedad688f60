package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/goevals/evals/dataset"
)

// The whole way: write a file, load it with its columns named, correct a label
// known to be wrong, and pick a part.
func Example() {
	dir, err := os.MkdirTemp("", "dataset")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sums.jsonl.gz")
	w, err := dataset.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range []string{
		`{"key":"a","sum":"1 + 1","result":2,"topic":"easy"}`,
		`{"key":"b","sum":"2 + 2","result":5,"topic":"easy"}`,
		`{"key":"c","sum":"17 * 3","result":51,"topic":"hard"}`,
	} {
		_ = w.WriteRow([]byte(row)) // Close reports the first error
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	ds, err := dataset.Load(path,
		dataset.Fields(dataset.Mapping{ID: "key", Input: "sum", Target: "result"}),
		dataset.Overrides(dataset.Override{ID: "b", Target: "4", Reason: "miscounted"}),
		dataset.Limit(2),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for item := range ds.All() {
		meta, _ := item.Metadata()
		fmt.Println(item.ID, item.Input, "=", item.Target, meta)
	}
	fmt.Println(ds.Name(), ds.Selection())
	for _, o := range ds.Overrides() {
		fmt.Printf("%s: %s instead of %s (%s)\n", o.ID, o.Target, o.Was, o.Reason)
	}
	// Output:
	// a 1 + 1 = 2 map[topic:easy]
	// b 2 + 2 = 4 map[topic:easy]
	// sums limit 2 (2 of 3)
	// b: 4 instead of 5 (miscounted)
}

// A row that cannot be used fails the load, with its line and what to do.
func ExampleNew() {
	_, err := dataset.New("colours", []dataset.Item{
		{Input: "What is the sky?", Target: "blue", Choices: []string{"green", "blue"}},
		{Input: "What is grass?", Target: "gren", Choices: []string{"green", "blue"}},
	})
	fmt.Println(err)
	// Output:
	// colours:2: target is not among the choices: "gren" is neither the text of one of the 2 choices nor a letter A to B; correct it with an override, or map the column that holds the answer (1 row was read well before it)
}
