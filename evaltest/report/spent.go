package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goevals/evals/llm"
)

func writeSpent(p *page, s *Stats) {
	if s.Recorded+s.Replaced == 0 {
		return
	}
	if s.Usage.Calls == 0 && s.Live+s.Replayed == 0 {
		p.para("", "tokens", "none: no call was made")
	} else {
		p.para("", "tokens", tokensText(s.Usage))
		if u := s.Usage; u.Calls > 0 && u.Unknown == u.Calls && s.Live > 0 && strings.HasPrefix(s.Strategy, "app ") {
			p.para("", "", "an application's calls are seen through wire.Transport, under the context that it is given")
		}
	}
	if !s.Cost.idle(s) {
		p.para("", "cost", costText(s.Cost, s.Usage))
	}
	if s.Replaced > 0 {
		p.para("", "again", "tokens and cost include "+plural(s.Replaced, "earlier answer")+", since replaced")
	}
	if s.Confirmed > 0 {
		p.para("", "confirmed", "tokens and cost include "+plural(s.Confirmed, "answer")+" of broken items that were asked again")
	}
	if s.Judge.Called+s.JudgeUsage.Calls == 0 {
		return
	}
	j := fmt.Sprintf("asked about %s, overturned the grader in %d", plural(s.Judge.Called, "answer"), s.Judge.Overturned)
	if s.Judge.Ungraded > 0 {
		j += fmt.Sprintf(", gave no legal verdict in %d", s.Judge.Ungraded)
	}
	p.para("", "judge", j)
	p.para("", "", "tokens "+tokensText(s.JudgeUsage))
	p.para("", "", "cost "+costText(s.JudgeCost, s.JudgeUsage))
}

// tokensText sums up a usage: what is unknown is said, never taken for 0.
func tokensText(u llm.UsageTotal) string {
	if u.Calls == 0 {
		return "unknown: no call was counted"
	}
	if u.Unknown == u.Calls {
		return fmt.Sprintf("unknown: none of %s reported usage", plural(u.Calls, "call"))
	}
	text := thousands(u.Input) + " in"
	if u.CachedInput > 0 {
		text += fmt.Sprintf(" (%s cached)", thousands(u.CachedInput))
	}
	text += ", " + thousands(u.Output) + " out"
	if u.Reasoning > 0 {
		text += fmt.Sprintf(" (%s reasoning)", thousands(u.Reasoning))
	}
	text += " in " + plural(u.Calls, "call")
	if u.Unknown > 0 {
		text = fmt.Sprintf("at least %s; partial: %s without usage", text, plural(u.Unknown, "call"))
	}
	return text
}

// idle reports a cost of which there is nothing to tell: calls were made, nobody
// answered one, and nothing was paid.
func (c Cost) idle(s *Stats) bool {
	b, r := c.Billed, c.Recorded
	return s.Answered+s.Replaced+s.Confirmed == 0 && b.Priced+r.Priced > 0 && b.Unpriced+r.Unpriced == 0 && b.USD.IsZero() && r.USD.IsZero()
}

// costText prints exact sums; a sum with unpriced answers is a lower bound.
func costText(c Cost, u llm.UsageTotal) string {
	b, r := c.Billed, c.Recorded
	why := unpricedText(c, u)
	if r.Priced+r.Unpriced == 0 {
		if b.Priced+b.Unpriced == 0 {
			return "$0: no call was made"
		}
		return sumText(b, why)
	}
	if b.Priced+b.Unpriced == 0 {
		return "$0 billed: all was replayed; when recorded it cost " + sumText(r, why)
	}
	return fmt.Sprintf("billed %s; what was replayed cost %s when recorded", sumText(b, why), sumText(r, ""))
}

func sumText(s Sum, why string) string {
	switch {
	case s.Unpriced == 0:
		return "$" + s.USD.String()
	case s.Priced == 0 && s.USD.IsZero():
		return "unknown" + why
	}
	return fmt.Sprintf(">= $%s, %s unpriced%s", s.USD, plural(s.Unpriced, "row"), why)
}

// unpricedText says why a cost is not known.
func unpricedText(c Cost, u llm.UsageTotal) string {
	var whys []string
	if u.Unknown > 0 {
		whys = append(whys, plural(u.Unknown, "call")+" without usage")
	}
	if n := len(c.Models); n > 0 {
		var names []string
		for _, m := range c.Models {
			names = append(names, inline(m, 60))
		}
		if n == 1 {
			whys = append(whys, "model "+names[0]+" has no price")
		} else {
			whys = append(whys, "models "+strings.Join(names, ", ")+" have no price")
		}
	}
	if len(whys) == 0 {
		whys = append(whys, "no price is known")
	}
	return " (" + strings.Join(whys, "; ") + ")"
}

func writeSpeed(p *page, s *Stats) {
	if len(s.Attempts) > 0 && !(len(s.Attempts) == 1 && s.Attempts[1] > 0) {
		var parts []string
		for _, n := range slices.Sorted(maps.Keys(s.Attempts)) {
			parts = append(parts, fmt.Sprintf("%s after %s", plural(s.Attempts[n], "answer"), plural(n, "attempt")))
		}
		p.para("", "attempts", strings.Join(parts, ", "))
	}
	if text := s.Waits.text(); text != "" {
		p.para("", "waits", text)
	}
	if s.Wall > 0 {
		fresh := s.Answered - s.AnsweredBefore
		text := duration(s.Wall)
		if s.Spanned {
			text += " from first start to last end"
		}
		if fresh > 0 {
			text += ", " + rate(float64(fresh)/s.Wall.Seconds()) + " answers/s"
		}
		if s.Resumed > 0 {
			text += fmt.Sprintf(" (%d of %d were there before)", s.Resumed, s.Recorded)
		}
		p.para("", "time", text)
	}
	if l := s.Latency; l.N > 0 {
		p.para("", "latency", latencyText(l))
	}
	if len(s.Slowest) > 0 && s.Latency.N > maxSlowest {
		var parts []string
		for _, x := range s.Slowest {
			parts = append(parts, fmt.Sprintf("%s %s", keyText(x.ID, x.Sample), duration(x.Latency)))
		}
		p.para("", "slowest", strings.Join(parts, ", "))
	}
	switch {
	case s.Replayed == 0:
	case s.Live == 0:
		p.para("", "replayed", "every answer came from a recording; no model was asked")
	default:
		p.para("", "replayed", fmt.Sprintf("%s came from a recording, %d did not", plural(s.Replayed, "answer"), s.Live))
	}
}

func latencyText(l Latency) string {
	text := fmt.Sprintf("p50 %s, p90 %s, ", duration(l.P50), duration(l.P90))
	if !l.HasP99() {
		text += fmt.Sprintf("max %s (n=%d is too small for p99)", duration(l.Max), l.N)
	} else {
		text += fmt.Sprintf("p99 %s, max %s (n=%d)", duration(l.P99), duration(l.Max), l.N)
	}
	switch {
	case l.Recorded == l.N:
		text += ", as recorded"
	case l.Recorded > 0:
		text += fmt.Sprintf(", %d of them as recorded", l.Recorded)
	}
	return text
}

// keyText names an answer: its item, and its sample if it is not the first, as
// in the names of subtests.
func keyText(id string, sample int) string {
	if sample == 0 {
		return inline(id, 60)
	}
	return fmt.Sprintf("%s~s%d", inline(id, 60), sample)
}
