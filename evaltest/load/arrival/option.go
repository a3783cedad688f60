package arrival

import (
	"fmt"
	"time"
)

// An OptionError says that a value that was asked for cannot be used.
// Constructors that take data return it; those that take constants of a
// program panic with it.
type OptionError struct {
	Option string // where, such as "Stages: stage 2: To"
	Value  any    // what was given
	Want   string // what would do
}

// Error names the option, the value and what would do.
func (e *OptionError) Error() string {
	return fmt.Sprintf("arrival: %s is %v; %s", e.Option, e.Value, e.Want)
}

// refuse returns an *OptionError unless ok.
func refuse(ok bool, option string, value any, want string) error {
	if ok {
		return nil
	}
	return &OptionError{Option: option, Value: value, Want: want}
}

// Rate is the rate per second of n events of which the first was at first and
// the last at last: (n-1) gaps over their total length. With n in the place of
// n-1 a short run would look faster than it was. ok is false where there is no
// rate: fewer than two events, or no time between them.
func Rate(n int, first, last time.Duration) (perSecond float64, ok bool) {
	if n < 2 || last <= first {
		return 0, false
	}
	return float64(n-1) / (last - first).Seconds(), true
}
