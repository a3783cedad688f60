package agent

import (
	"fmt"

	"github.com/goevals/evals/evaltest/load/workload"
)

// A conversation is the state of one trajectory between its turns. stage may
// run while a request is in flight, never beside another method.
type conversation interface {
	// stage makes the texts that turn t needs, whatever the reply before it.
	stage(t int) error
	// advance makes the prompt that of turn t. Unless t is 0, message is the
	// server's reply to the turn before, as JSON.
	advance(t int, message []byte) error
	// prompt returns the members of "messages" and of "tools"; they are good
	// until the next advance.
	prompt() (messages, tools []byte)
	// cacheable returns how much of the prompt a perfect cache could hold, and
	// takes it as sent.
	cacheable(t int) int
	// fallbacks is how many live blocks had no reply to take.
	fallbacks() int
}

func newConversation(p *Plan, m maker, replies Replies, seen *sent) conversation {
	if p.Blocks() {
		return &blocks{plan: p, maker: m, replies: replies, seen: seen, texts: map[string]string{}, live: map[string]reply{}}
	}
	return &growth{plan: p, maker: m, replies: replies}
}

// growth is the conversation of a plan without blocks: one message of the
// user, then the model's reply, a call of the environment and its answer, and
// so on.
type growth struct {
	plan    *Plan
	maker   maker
	replies Replies
	msgs    messages
	// staged are the texts of the next turn: fresh opens the conversation,
	// answer is the environment's, recorded stands for the reply.
	fresh, answer, recorded string
}

func (g *growth) stage(t int) (err error) {
	turn := &g.plan.Turns[t]
	if t == 0 || turn.Reset {
		id := workload.InitialText
		if t > 0 {
			id = workload.ResetText(t)
		}
		g.fresh, err = g.maker.field(g.plan.Agent, id, turn.Content)
		return fieldError(err, "the prompt of request %d", t+1)
	}
	before := &g.plan.Turns[t-1]
	g.answer, err = g.maker.field(g.plan.Agent, workload.EnvironmentText(t-1), before.Environment)
	if err == nil && g.replies == Recorded {
		g.recorded, err = g.maker.field(g.plan.Agent, workload.ReplyText(t-1), before.Output)
	}
	return fieldError(err, "the answers before request %d", t+1)
}

func fieldError(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

func (g *growth) advance(t int, message []byte) error {
	if t == 0 || g.plan.Turns[t].Reset {
		g.msgs.reset()
		err := g.msgs.say(User, g.fresh)
		g.fresh = ""
		return err
	}
	var r reply
	var err error
	if g.replies == Recorded {
		r, err = textReply(g.recorded)
	} else {
		r, err = parseReply(message)
	}
	if err != nil {
		return err
	}
	id := turnCallID(g.plan.Agent, t-1)
	g.msgs.assistant(r)
	g.msgs.call(id, "environment", `{"request":"continue"}`)
	err = g.msgs.answer(id, g.answer)
	g.answer, g.recorded = "", ""
	return err
}

func (g *growth) prompt() (messages, tools []byte) { return g.msgs.buf, nil }
func (g *growth) cacheable(t int) int              { return g.plan.Turns[t].Cacheable }
func (g *growth) fallbacks() int                   { return 0 }
