package gsm8k_test

import (
	"encoding/json"
	"fmt"

	"github.com/goevals/evals/dataset/gsm8k"
)

func Example() {
	row := `{"question":"A crate holds 1,200 pears. How many do 3 crates hold?",` +
		`"answer":"3 crates hold 3*1200=<<3*1200=3600>>3600 pears.\n#### 3,600"}`
	item, err := gsm8k.Decode(json.RawMessage(row))
	fmt.Println(gsm8k.ID(1), item.Input, "→", item.Target, err)
	// Output: gsm8k-0001 A crate holds 1,200 pears. How many do 3 crates hold? → 3600 <nil>
}
