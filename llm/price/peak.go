package price

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Peak are the hours in which a model costs a multiple of its rates.
type Peak struct {
	// Factor is what the rates are multiplied by in these hours.
	Factor decimal.Decimal
	// Windows are the hours of a day, in UTC.
	Windows []Window
	// Weekdays limits the windows to Monday to Friday.
	Weekdays bool
	// Except are days without peak hours, such as public holidays, as
	// "2006-01-02" in UTC. Holidays that are not listed are taken as workdays:
	// what was used in their windows then reads too dear, by at most Factor.
	Except []string
}

// A Window is a part of a day, from From on and before To.
type Window struct{ From, To time.Duration }

// in reports whether t lies in the hours.
func (p *Peak) in(t time.Time) bool {
	t = t.UTC()
	if day := t.Weekday(); p.Weekdays && (day == time.Saturday || day == time.Sunday) {
		return false
	}
	if slices.Contains(p.Except, t.Format(time.DateOnly)) {
		return false
	}
	clock := t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
	return slices.ContainsFunc(p.Windows, func(w Window) bool { return w.From <= clock && clock < w.To })
}

// parsePeak reads "x2 mon-fri 01:00-04:00 06:00-10:00 except 2026-10-01": a
// factor, the days if not all, windows in UTC, and days without any.
func parsePeak(s string) (*Peak, error) {
	words := strings.Fields(s)
	const want = "want such as \"x2 mon-fri 01:00-04:00 06:00-10:00 except 2026-10-01\", hours in UTC"
	if len(words) == 0 || !strings.HasPrefix(words[0], "x") {
		return nil, errors.New(want)
	}
	factor, err := rate(words[0][1:])
	if err != nil {
		return nil, fmt.Errorf("the factor %q: %v; %s", clip(words[0]), err, want)
	}
	p := &Peak{Factor: factor}
	except := false
	for _, w := range words[1:] {
		switch {
		case w == "except":
			except = true
		case except:
			if _, err := time.Parse(time.DateOnly, w); err != nil {
				return nil, fmt.Errorf("%q is no day; %s", clip(w), want)
			}
			p.Except = append(p.Except, w)
		case w == "mon-fri":
			p.Weekdays = true
		default:
			from, to, _ := strings.Cut(w, "-")
			a, errA := clock(from)
			b, errB := clock(to)
			if errA != nil || errB != nil || a >= b {
				return nil, fmt.Errorf("%q is no part of a day; %s", clip(w), want)
			}
			p.Windows = append(p.Windows, Window{a, b})
		}
	}
	if len(p.Windows) == 0 {
		return nil, errors.New("no hours are given; " + want)
	}
	return p, nil
}

func clock(s string) (time.Duration, error) {
	if s == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", s)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err
}
