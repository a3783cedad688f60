package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
)

// recorderQueue is how many finished requests may wait to be written: enough for
// a pause of the disk, and not so many that a kill loses more than a moment.
const recorderQueue = 1024

// refusedKept is how many records that cannot be true a report shows; the result
// counts them all.
const refusedKept = 3

// A recorder counts and keeps finished requests, on a goroutine of its own: what
// it costs to write one is in nobody's latency.
type recorder struct {
	meter *metric.Meter
	sink  func(*record.Request) error
	stop  context.CancelCauseFunc
	watch *monitor

	queue   chan *record.Request
	pool    sync.Pool
	err     error // of the sink; read after close
	refused []error
	done    chan struct{}
}

func newRecorder(meter *metric.Meter, sink func(*record.Request) error, watch *monitor, stop context.CancelCauseFunc) *recorder {
	r := &recorder{meter: meter, sink: sink, stop: stop, watch: watch, queue: make(chan *record.Request, recorderQueue), done: make(chan struct{})}
	r.pool.New = func() any { return new(record.Request) }
	go r.run()
	return r
}

// blank returns an empty record, with the memory of an old one.
func (r *recorder) blank() *record.Request {
	rec := r.pool.Get().(*record.Request)
	*rec = record.Request{Fragments: rec.Fragments[:0], Tries: rec.Tries[:0]}
	return rec
}

// add hands a finished request over; it belongs to the recorder then.
func (r *recorder) add(rec *record.Request) { r.queue <- rec }

func (r *recorder) run() {
	defer close(r.done)
	for rec := range r.queue {
		r.watch.see(rec)
		if err := r.meter.Add(rec); err != nil && len(r.refused) < refusedKept { // the result counts all of them
			r.refused = append(r.refused, err)
		}
		if r.sink != nil && r.err == nil {
			if err := r.sink(rec); err != nil {
				r.err = fmt.Errorf("load: request %d could not be kept, the run ends: %w", rec.Seq, err)
				r.stop(r.err)
			}
		}
		r.pool.Put(rec)
	}
}

// close waits until all that was added is counted and kept.
func (r *recorder) close() error {
	close(r.queue)
	<-r.done
	return r.err
}

// tell calls f at each tick with what the meter counted so far, and returns what
// ends it.
func tell(f func(Progress), tick time.Duration, meter *metric.Meter, inFlight *atomic.Int64) (stop func()) {
	if f == nil {
		return func() {}
	}
	began, end := time.Now(), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f(Progress{meter.Progress(), time.Since(began), int(inFlight.Load())})
			case <-end:
				return
			}
		}
	})
	return func() { close(end); done.Wait() }
}
