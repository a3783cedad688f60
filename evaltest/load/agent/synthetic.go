package agent

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goevals/evals/evaltest/load/workload"
)

// Lengths is a distribution of whole numbers of at least 1.
type Lengths interface {
	Draw(r *rand.Rand) int
}

// LengthsFunc is a function as Lengths.
type LengthsFunc func(r *rand.Rand) int

// Draw calls f.
func (f LengthsFunc) Draw(r *rand.Rand) int { return f(r) }

var _ Lengths = LengthsFunc(nil)

// Fixed returns Lengths that are always n. It panics if n is less than 1.
func Fixed(n int) Lengths {
	if n < 1 {
		panic(fmt.Sprintf("agent.Fixed: the length is %d; it must be at least 1", n))
	}
	return LengthsFunc(func(*rand.Rand) int { return n })
}

// A Shape is what synthetic trajectories look like. All but Latency are needed.
type Shape struct {
	// Input is the length of the first prompt, in tokens.
	Input Lengths
	// Turns is how many requests a trajectory has.
	Turns Lengths
	// Output is the length of each reply, in tokens.
	Output Lengths
	// Environment is the length of each tool's answer, in tokens.
	Environment Lengths
	// Latency is how long each tool takes, in milliseconds; nil: no time.
	Latency Lengths
}

// maxTurns bounds a synthetic trajectory: more is a mistake in a unit.
const maxTurns = 1_000_000

// Synthesize plans n trajectories called sampled-0, sampled-1, … . Each agent
// has streams of its own, so a plan depends on the seed, its number and the
// shape alone. Prompts grow by the reply and the tool's answer, without any
// overhead. A draw of less than 1 is [ErrValue].
func Synthesize(seed uint64, n int, s Shape) (*Plans, error) {
	if n < 1 {
		return nil, problemf(ErrConfig, "%d agents; there must be at least 1", n)
	}
	for _, x := range []struct {
		name string
		l    Lengths
	}{{"Input", s.Input}, {"Turns", s.Turns}, {"Output", s.Output}, {"Environment", s.Environment}} {
		if x.l == nil {
			return nil, problemf(ErrConfig, "Shape.%s is missing", x.name)
		}
	}
	p := &Plans{}
	for agent := range n {
		plan, err := synthesize(seed, agent, s)
		if err != nil {
			return nil, err
		}
		p.List = append(p.List, plan)
	}
	return p, nil
}

func synthesize(seed uint64, agent int, s Shape) (*Plan, error) {
	var err error
	draw := func(name string, l Lengths, r *rand.Rand, most int) int {
		v := l.Draw(r)
		if (v < 1 || v > most) && err == nil {
			err = problemf(ErrValue, "agent %d drew %d for %s; it must be from 1 to %d", agent, v, name, most)
		}
		return v
	}
	output, environment, latency := stream(seed, agent, workload.OutputLength), stream(seed, agent, workload.EnvironmentLength), stream(seed, agent, workload.ToolLatency)
	p := &Plan{Agent: agent, ID: fmt.Sprintf("sampled-%d", agent)}
	prompt := draw("Input", s.Input, stream(seed, agent, workload.InputLength), maxTokens)
	turns := draw("Turns", s.Turns, stream(seed, agent, workload.Invocations), maxTurns)
	for range turns {
		t := Turn{Prompt: prompt, Content: prompt}
		t.Output = draw("Output", s.Output, output, maxTokens)
		t.Min, t.Max = t.Output, t.Output
		t.Environment = draw("Environment", s.Environment, environment, maxTokens)
		if s.Latency != nil {
			t.Delay = time.Duration(draw("Latency", s.Latency, latency, maxMillis)) * time.Millisecond
		}
		if err != nil {
			return nil, err
		}
		p.Turns = append(p.Turns, t)
		if prompt += t.Output + t.Environment; prompt > maxTokens {
			return nil, problemf(ErrValue, "agent %d has a prompt of %d tokens in turn %d; at most %d", agent, prompt, len(p.Turns)+1, maxTokens)
		}
	}
	if err != nil { // there were no turns
		return nil, err
	}
	cacheable(p)
	return p, nil
}
