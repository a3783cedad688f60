package evaltest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// progress counts endings, warns when the run will not fit into the test's time,
// and draws one line on the terminal. Workers share it until they have ended.
type progress struct {
	mu sync.Mutex // held by add

	r       *runner
	t       *testing.T
	reserve reserve
	begun   time.Time
	// ran are the units with a record, asked those of them that were not
	// carried over, filtered and notRun the others that were seen.
	ran, asked, filtered, notRun int
	correct, errored             int
	warned                       bool

	tty   terminal
	drawn time.Time
}

// redraw is the least time between two drawings.
const redraw = 100 * time.Millisecond

func newProgress(r *runner, t *testing.T, res reserve) *progress {
	p := &progress{r: r, t: t, reserve: res, begun: time.Now()}
	// With -v go test's own lines would land behind ours.
	if !r.verbose && r.h.getenv("CI") == "" {
		p.tty = r.h.terminal()
	}
	p.draw()
	return p
}

func (p *progress) add(e ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.what {
	case filtered:
		p.filtered++
		return
	case notRun:
		p.notRun++
		return
	}
	p.ran++
	if e.fresh {
		p.asked++
	}
	switch e.outcome {
	case result.Correct:
		p.correct++
	case result.Errored:
		p.errored++
	}
	p.estimate()
	if p.tty != nil && time.Since(p.drawn) >= redraw {
		p.draw()
	}
}

// left estimates how long the rest takes; 0 if nothing is known.
func (p *progress) left() time.Duration {
	if p.asked == 0 {
		return 0
	}
	rest := p.r.plan.selected - p.ran
	return time.Duration(float64(time.Since(p.begun)) / float64(p.asked) * float64(rest))
}

// estimate warns once, when every worker has ended its first item.
func (p *progress) estimate() {
	if p.warned || p.reserve.last.IsZero() || p.asked < p.r.set.parallel {
		return
	}
	p.warned = true
	left, have := p.left(), time.Until(p.reserve.last)
	if left <= have {
		return
	}
	rest := p.r.plan.selected - p.ran
	will := int(float64(rest) * float64(have) / float64(left))
	text := fmt.Sprintf("the remaining %d items need about %s, and go test ends this test in %s: about %d of them will not run; give more time (-timeout %s), or resume afterwards",
		rest, short(left), short(time.Until(p.reserve.deadline)), rest-will, short(2*(left+time.Since(p.begun))+time.Minute))
	p.r.warn("%s", text)
	write(p.t, p.r.site, text)
}

func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

const eraseLine = "\r\x1b[2K"

func (p *progress) draw() {
	if p.tty == nil {
		return
	}
	p.drawn = time.Now()
	width := p.tty.Width()
	if width <= 0 {
		width = 80
	}
	name := report.Escape(p.r.test, 0) + " "
	if len(name) > width/2 {
		name = ""
	}
	text := report.Progress(p.ran, p.r.plan.selected, p.correct, p.errored, p.left(), width-1-len(name))
	fmt.Fprint(p.tty, eraseLine+name+text)
}

// end removes the line and closes the terminal.
func (p *progress) end() {
	if p.tty == nil {
		return
	}
	fmt.Fprint(p.tty, eraseLine)
	p.tty.Close()
	p.tty = nil
}
