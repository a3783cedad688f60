package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/fake"
)

// One streamed call, and what the server knows of it.
func Example() {
	seen := make(chan *fake.Seen, 1)
	server := &fake.Server{
		TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond,
		PerMessage: 4, // as a chat template adds them
		Saw:        func(s *fake.Seen) { seen <- s },
	}
	url, stop, err := server.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	body := `{"model":"m","messages":[{"role":"user","content":"the river in winter"}],"max_tokens":3,"stream":true}`
	res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		fmt.Println(err)
	}

	s := <-seen
	fmt.Println("in:", s.Input, "out:", s.Output, "events:", len(s.Written))
	fmt.Println("last due after", s.Due[2].Sub(s.Arrived))
	fmt.Println("written too early:", s.Written[2].Before(s.Due[2]))
	fmt.Println("answered:", server.Counts().Answered)
	// Output:
	// in: 8 out: 3 events: 3
	// last due after 30ms
	// written too early: false
	// answered: 1
}
