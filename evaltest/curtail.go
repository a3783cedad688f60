package evaltest

import "github.com/goevals/evals/evaltest/gate"

// curtails reports whether the run may end when its gates are settled.
func (r *runner) curtails() bool {
	return r.set.curtail && !r.asserts && !r.set.update && !r.bench
}

// settle ends the run if no gate's decision can change any more. seen is how
// many records there are: to look costs as much as to decide, so it is done a
// hundred times in a run.
func (r *runner) settle(seen int) {
	if seen == 0 || !r.curtails() || seen%max(1, r.plan.total/100) != 0 || !r.settling.TryLock() {
		return
	}
	defer r.settling.Unlock()
	if r.settled.Load() {
		return
	}
	h := gate.BaselineHeader{Fingerprint: wholeFingerprint(r.header, nil), Samples: r.set.samples}
	if r.baseline != nil {
		// Which model answers is compared at the end.
		if model, known := r.baseline.Header.Fingerprint[fieldModel]; known {
			h.Fingerprint[fieldModel] = model
		}
	}
	r.evidence.mu.Lock()
	defer r.evidence.mu.Unlock()
	e, err := r.evidence.forGates(h)
	if err == nil && gate.Settled(e, r.unasked(e.Counts)) && !r.confirms(e) {
		r.settled.Store(true)
		r.queue.over.Store(true)
	}
}

// unasked are the gates without those limits that only an answer could break: what
// is not asked for does not end in an error.
func (r *runner) unasked(c gate.Counts) gate.Config {
	cfg := r.gates()
	if c.Errored <= cfg.MaxErrored {
		cfg.MaxErrored = c.Total
	}
	if c.Ungraded <= cfg.MaxUngraded {
		cfg.MaxUngraded = c.Total
	}
	return cfg
}

// confirms reports whether the broken items would be asked again, so far: what
// comes of that is not settled, and if they are flaky it is the others that
// decide.
func (r *runner) confirms(e gate.Evidence) bool {
	if r.set.confirm == 0 || r.baseline == nil {
		return false
	}
	e.Curtailed = true
	return failed(gate.Decide(e, r.gates()), gate.NoDrop, gate.MaxDrop)
}
