package load

import (
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
)

// heartbeat is how often a heart beats.
const heartbeat = 10 * time.Millisecond

// A heart measures how late this process's goroutines wake up. That is what a
// closed loop cannot see of itself: where other processes take the processors,
// the user that is late to send is late to look at the clock, too, and what the
// server is blamed for is the client's own waiting.
type heart struct {
	end, ended chan struct{}
	late       metric.Pool
}

func (h *heart) begin() {
	h.end, h.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(h.ended)
		t := time.NewTimer(heartbeat)
		for due := time.Now().Add(heartbeat); ; {
			select {
			case <-h.end:
				return
			case <-t.C:
			}
			now := time.Now()
			h.late.Add(max(0, float64(now.Sub(due))), 1)
			due = now.Add(heartbeat)
			t.Reset(heartbeat)
		}
	}()
}

// stop returns the 99th percentile; none if there were too few beats for one.
func (h *heart) stop() metric.Figure {
	close(h.end)
	<-h.ended
	if h.late.N() < 100 {
		return metric.Figure{}
	}
	return h.late.Quantile(0.99, metric.Linear)
}
