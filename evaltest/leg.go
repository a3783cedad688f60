package evaltest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/goevals/evals/evaltest/bakeoff"
)

// A Leg is one way to work through items without this library, for [Race]:
// what a team would write in its place.
type Leg struct {
	// Name stands in the units of what is measured: letters, digits and -,
	// other than "ours".
	Name string
	// Go calls do once for each of 0 … items-1, at most parallel at once, which
	// is at least 1, and returns when every call has returned. do may be called
	// from any goroutine.
	Go func(items, parallel int, do func(i int))
}

// SequentialLeg works through the items one by one. Its name is [bakeoff.Sequential].
func SequentialLeg() Leg {
	return Leg{bakeoff.Sequential, func(items, _ int, do func(int)) {
		for i := range items {
			do(i)
		}
	}}
}

// ChunkedLeg starts as many items as may run at once, waits for all of them,
// and only then starts the next ones: each chunk takes as long as its slowest
// item. Its name is [bakeoff.Chunked].
func ChunkedLeg() Leg {
	return Leg{bakeoff.Chunked, func(items, parallel int, do func(int)) {
		for from := 0; from < items; from += parallel {
			var chunk sync.WaitGroup
			for i := from; i < min(from+parallel, items); i++ {
				chunk.Go(func() { do(i) })
			}
			chunk.Wait()
		}
	}}
}

// PoolLeg starts an item whenever fewer than the limit are running: a plain
// semaphore, and the fair rival. Its name is [bakeoff.Pool].
func PoolLeg() Leg {
	return Leg{bakeoff.Pool, func(items, parallel int, do func(int)) {
		slots := make(chan struct{}, parallel)
		var all sync.WaitGroup
		for i := range items {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				do(i)
			})
		}
		all.Wait()
	}}
}

// checkLegs refuses legs that cannot be told apart or stand in a unit.
func checkLegs(legs []Leg) error {
	if len(legs) == 0 {
		return fmt.Errorf("no legs: give what to compare with, such as evaltest.SequentialLeg() and evaltest.PoolLeg()")
	}
	seen := map[string]bool{bakeoff.Ours: true}
	for _, leg := range legs {
		switch bad := strings.Trim(strings.ToLower(leg.Name), "abcdefghijklmnopqrstuvwxyz0123456789-"); {
		case leg.Name == "" || bad != "":
			return fmt.Errorf("leg %q: a name has letters, digits and -, since it stands in a unit", leg.Name)
		case seen[leg.Name]:
			return fmt.Errorf("leg %q: there is another one of this name", leg.Name)
		case leg.Go == nil:
			return fmt.Errorf("leg %q: Go is nil", leg.Name)
		}
		seen[leg.Name] = true
	}
	return nil
}
