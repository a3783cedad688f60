package evaltest

import "sync/atomic"

// A queue hands out units to workers, in order.
type queue struct {
	at    func(int) *unit
	total int
	taken atomic.Int64
	over  atomic.Bool // what is left is not begun
}

// left reports whether another unit is to be begun.
func (q *queue) left() bool { return !q.over.Load() && int(q.taken.Load()) < q.total }

// take returns the next unit; nil if there is none.
func (q *queue) take() *unit {
	if !q.left() {
		return nil
	}
	if i := int(q.taken.Add(1)) - 1; i < q.total {
		return q.at(i)
	}
	return nil
}
