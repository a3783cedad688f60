package load

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
)

// A pulse is what this process has used at a moment.
type pulse struct {
	at    time.Time
	cpu   time.Duration
	known bool
	gc    time.Duration
}

func takePulse() pulse {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	p := pulse{at: time.Now(), gc: stats.PauseTotal}
	p.cpu, p.known = cpuTime()
	return p
}

// A monitor watches this process through a run, from begin to end.
type monitor struct {
	from        pulse
	descriptors atomic.Int64
	heart       heart
}

func (m *monitor) begin() {
	m.from = takePulse()
	m.heart.begin()
}

// see counts a request that failed for want of a descriptor or a local port.
func (m *monitor) see(r *record.Request) {
	if starved(r.Failure) {
		m.descriptors.Add(1)
		return
	}
	for i := range r.Tries {
		if starved(&r.Tries[i].Failure) {
			m.descriptors.Add(1)
			return
		}
	}
}

// starved reads the system's words, which is all that a record keeps of an
// error: EMFILE and ENFILE, EADDRNOTAVAIL, and what Windows says of the same.
func starved(f *record.Failure) bool {
	if f == nil || f.Class != record.Connect {
		return false
	}
	for _, words := range []string{"too many open files", "cannot assign requested address", "can't assign requested address", "Only one usage of each socket address"} {
		if strings.Contains(f.Message, words) {
			return true
		}
	}
	return false
}

// shortRun is the time in seconds below which shares of it say nothing.
const shortRun = 0.5

// longRun is the time in seconds of which pauses for a collection are a share: in
// less, one that another process stretched would be a hundredth.
const longRun = 5.0

// health is what was seen since begin; it is called once. Arrivals never wait for
// a request here, and the client's pool has no limit: both are 0 by construction,
// and said.
func (m *monitor) health() metric.Health {
	now := takePulse()
	wall := now.at.Sub(m.from.at).Seconds()
	h := metric.Health{PoolWaits: metric.Some(0), Blocked: metric.Some(0), FDErrors: metric.Some(float64(m.descriptors.Load()))}
	h.WakeupP99 = m.heart.stop()
	if wall < shortRun {
		return h // a single collection, or the start of some goroutines, would be most of it
	}
	if pause := (now.gc - m.from.gc).Seconds(); wall >= longRun || pause > longRun/100 {
		h.GCPause = metric.Some(pause / wall)
	}
	if now.known && m.from.known {
		h.CPU = metric.Some((now.cpu - m.from.cpu).Seconds() / (wall * float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))))
	}
	return h
}
