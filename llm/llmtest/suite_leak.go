package llmtest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/llm"
)

// leakCalls is how many calls of each sort the check makes. A pool or a worker
// that is started once is no leak; one goroutine more with each call is.
const leakCalls = 6

// checkGoroutines makes many calls, some of them canceled, and counts the
// goroutines that are left.
//
// They are found by a profiler label, which goroutines inherit from the one
// that starts them: other tests may start and end as many as they like
// meanwhile. Comparing runtime.NumGoroutine would count those too.
func checkGoroutines(p prober, m llm.Model) error {
	var f findings
	id := strconv.FormatInt(leakID.Add(1), 10)
	pprof.Do(p.ctx, pprof.Labels(leakLabel, id), func(ctx context.Context) {
		p.ctx = ctx
		if r := p.ask(m, oneWord()); r.broken != nil { // what is started once is started here
			f = append(f, r.broken)
			return
		}
		before := leftOver(id, 0, 100*time.Millisecond)
		for i := range 4 * leakCalls {
			ctx, cancel := context.WithTimeout(p.ctx, suiteTimeout)
			switch {
			case i%4 == 2:
				cancel()
			case i%4 == 3:
				time.AfterFunc(200*time.Microsecond, cancel)
			}
			req := oneWord()
			req.Stream = i%2 == 1
			r := p.call(ctx, m, req)
			cancel()
			if r.broken != nil {
				f = append(f, r.broken)
				return
			}
		}
		after := leftOver(id, before.total+leakCalls-1, time.Second)
		if n := after.total - before.total; n >= leakCalls {
			f.addf("%d more goroutines run after %d calls than before, want each call to end what it started; one of them:\n%s", n, 4*leakCalls, after.example)
		}
	})
	return f.err()
}

const leakLabel = "llmtest-goroutines"

var leakID atomic.Int64

type left struct {
	total   int
	example string
}

// leftOver counts the goroutines with this label, and gives them some time to
// become at most n. The caller's own and those of net/http's connection
// pools do not count.
func leftOver(id string, n int, patience time.Duration) left {
	for end := time.Now().Add(patience); ; <-time.After(20 * time.Millisecond) {
		if l := countLabel(id); l.total <= n || time.Now().After(end) {
			return l
		}
	}
}

func countLabel(id string) left {
	var buf bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&buf, 1); err != nil {
		return left{} // a buffer takes everything
	}
	var l left
	most := 0
	for entry := range strings.SplitSeq(buf.String(), "\n\n") {
		head, stack, _ := strings.Cut(entry, "\n")
		if strings.HasPrefix(head, "goroutine profile:") {
			head, stack, _ = strings.Cut(stack, "\n")
		}
		if !strings.Contains(stack, fmt.Sprintf("%q:%q", leakLabel, id)) ||
			strings.Contains(stack, "llmtest.countLabel") || strings.Contains(stack, "net/http.(*persistConn)") ||
			strings.Contains(stack, "net/http.(*http2") || strings.Contains(stack, "http2.(*") {
			continue
		}
		count, _, _ := strings.Cut(head, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			continue
		}
		l.total += n
		if n > most {
			most, l.example = n, stack
		}
	}
	return l
}
