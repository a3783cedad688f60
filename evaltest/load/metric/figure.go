package metric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// A Figure is a number that may be absent because it is not known or not
// defined. The zero value is absent. It is never NaN; it is +Inf only where
// failures are counted as infinitely slow.
type Figure struct {
	v     float64
	known bool
}

// Some returns v as a Figure: absent if v is NaN.
func Some(v float64) Figure {
	if math.IsNaN(v) {
		return Figure{}
	}
	return Figure{v, true}
}

// ratio returns a/b, absent if b is 0.
func ratio(a, b float64) Figure {
	if b == 0 {
		return Figure{}
	}
	return Some(a / b)
}

// Get returns the number and whether it is there.
func (f Figure) Get() (float64, bool) { return f.v, f.known }

// Known reports whether the number is there.
func (f Figure) Known() bool { return f.known }

// times returns f multiplied by k, absent if f is.
func (f Figure) times(k float64) Figure { return Figure{f.v * k, f.known} }

// String returns the shortest text that reads back as the number, "absent" if
// there is none.
func (f Figure) String() string {
	if !f.known {
		return "absent"
	}
	return strconv.FormatFloat(f.v, 'g', -1, 64)
}

// MarshalJSON writes the number in full precision, null if it is absent, and
// the string "+Inf" or "-Inf", since JSON has no such number.
func (f Figure) MarshalJSON() ([]byte, error) {
	switch {
	case !f.known:
		return []byte("null"), nil
	case math.IsInf(f.v, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(f.v, -1):
		return []byte(`"-Inf"`), nil
	}
	return json.Marshal(f.v)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Figure) UnmarshalJSON(b []byte) error {
	*f = Figure{}
	switch string(bytes.TrimSpace(b)) {
	case "null":
		return nil
	case `"+Inf"`:
		*f = Some(math.Inf(1))
		return nil
	case `"-Inf"`:
		*f = Some(math.Inf(-1))
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf(`metric: a figure is a number, null, "+Inf" or "-Inf": %w`, err)
	}
	*f = Some(v)
	return nil
}
