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

// A recorder counts finished requests, and has them kept on a goroutine of its
// own: what it costs to write one is in nobody's way.
type recorder struct {
	meter *metric.Meter
	sink  func(*record.Request) error
	stop  context.CancelCauseFunc
	watch *monitor

	pool  sync.Pool
	queue chan *record.Request // for the sink; nil without one
	done  chan struct{}
	err   error // of the sink; read after close
	// waited is the time in which finished requests were held back by the sink.
	waited atomic.Int64

	mu      sync.Mutex
	refused []error
}

func newRecorder(meter *metric.Meter, sink func(*record.Request) error, watch *monitor, stop context.CancelCauseFunc) *recorder {
	r := &recorder{meter: meter, sink: sink, stop: stop, watch: watch}
	r.pool.New = func() any { return new(record.Request) }
	if sink != nil {
		r.queue, r.done = make(chan *record.Request, recorderQueue), make(chan struct{})
		go r.keep()
	}
	return r
}

// blank returns an empty record, with the memory of an old one.
func (r *recorder) blank() *record.Request {
	rec := r.pool.Get().(*record.Request)
	*rec = record.Request{Fragments: rec.Fragments[:0], Tries: rec.Tries[:0]}
	return rec
}

// add counts a finished request; it belongs to the recorder then. Counting takes
// less than handing it to another goroutine would.
func (r *recorder) add(rec *record.Request) {
	r.watch.see(rec)
	if err := r.meter.Add(rec); err != nil {
		r.refuse(err)
	}
	if r.sink == nil {
		r.pool.Put(rec)
		return
	}
	select {
	case r.queue <- rec:
		return
	default:
	}
	from := time.Now()
	r.queue <- rec
	r.waited.Add(int64(time.Since(from)))
}

func (r *recorder) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refused) < refusedKept { // the result counts all of them
		r.refused = append(r.refused, err)
	}
}

// keep gives records to the sink, one after the other.
func (r *recorder) keep() {
	defer close(r.done)
	for rec := range r.queue {
		if r.err == nil {
			if err := r.sink(rec); err != nil {
				r.err = fmt.Errorf("load: request %d could not be kept, the run ends: %w", rec.Seq, err)
				r.stop(r.err)
			}
		}
		r.pool.Put(rec)
	}
}

// close waits until all that was added is kept.
func (r *recorder) close() error {
	if r.sink == nil {
		return nil
	}
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
