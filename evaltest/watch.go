package evaltest

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// parentPoll is how often the parent process is looked at.
const parentPoll = time.Second

// watch halts the governor on SIGINT, on SIGTERM and when the go command dies;
// end stops watching. A test binary whose go command was killed goes on as an
// orphan and would go on spending. testing starts nothing under a debugger or
// by hand with -test.paniconexit0, so only then is the parent looked at.
func (h *hooks) watch(g *governor) (end func()) {
	signals, unsubscribe := h.signals()
	var tick <-chan time.Time
	stopTick := func() {}
	parent := h.ppid()
	if h.testFlag("paniconexit0") == "true" && parent > 1 {
		ticker := time.NewTicker(parentPoll)
		tick, stopTick = ticker.C, ticker.Stop
	}
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-over:
				return
			case sig := <-signals:
				h.unhook() // the next one ends the process at once
				h.halt(g, &halt{reason: "interrupt", text: "interrupted (" + signalName(sig) + ")"})
				return
			case <-tick:
				if now := h.ppid(); now != parent {
					h.halt(g, &halt{reason: "orphan", text: fmt.Sprintf("the go command that started this test has ended (parent process %d became %d)", parent, now)})
					return
				}
			}
		}
	})
	return func() {
		close(over)
		wait.Wait()
		stopTick()
		unsubscribe()
	}
}

func (h *hooks) halt(g *governor, cause *halt) {
	h.process.halt(cause)
	g.stop(cause, grace)
}

func signalName(s os.Signal) string {
	if s == os.Interrupt {
		return "SIGINT"
	}
	if s.String() == "terminated" {
		return "SIGTERM"
	}
	return s.String()
}
