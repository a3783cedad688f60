package gemini

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

var modelVersion = regexp.MustCompile(`(?:^|/)gemini-(\d{1,3})(?:\.(\d{1,3}))?-([a-z-]*)`)

// family is what is known of a model by its name: how its thinking is set. A
// name that says nothing (a tuned model, an alias such as gemini-flash-latest)
// leaves it to the server.
type family struct {
	budgets bool // 2.5: a number of tokens
	levels  bool // 3 and later: a word
	always  bool // thinking cannot be switched off
}

func familyOf(model string) family {
	m := modelVersion.FindStringSubmatch(model)
	if m == nil {
		return family{}
	}
	major, _ := strconv.Atoi(m[1]) // one to three digits
	switch {
	case major >= 3:
		return family{levels: true, always: true}
	case m[1] == "2" && m[2] == "5":
		return family{budgets: true, always: strings.HasPrefix(m[3], "pro")}
	}
	return family{}
}

// thinking sets how much the model reasons, and asks for the thoughts where it
// does, since they are what Response.Reasoning is: they cost nothing beside the
// thinking itself. Where nothing is set nothing is sent, and no thoughts come.
//
// What is documented (Gemini API and Vertex AI, "Thinking"): 2.5 takes
// budgets, where 0 is off but for 2.5 Pro and -1 lets the model choose, and
// answers an error to a level. 3 and later take levels and cannot be switched
// off: the lowest, minimal, "does not guarantee that thinking is off", and not
// every model has it. They take a budget from old callers only, with a warning
// of worse answers; some were seen to take one of 0 and to think all the same.
// So Off and budgets are refused there, and never turned into something else.
func (r *request) thinking(to target, model string, t *llm.Thinking) error {
	if t == nil {
		return nil
	}
	f := familyOf(model)
	off := t.Off || t.Budget != nil && *t.Budget == 0
	switch bad := client.ThinkingFault(*t); {
	case bad != "":
		return refuse(to.provider, "%s", bad)
	case off && f.levels:
		return refuse(to.provider, `Request.Thinking: the thinking of %s cannot be switched off: set Level to "minimal" (most Flash models have it) or "low", its least`, model)
	case off && f.always:
		return refuse(to.provider, "Request.Thinking: the thinking of %s cannot be switched off: set Budget to 128 or more, or to -1 for the model to choose", model)
	case t.Budget != nil && f.levels:
		return refuse(to.provider, "Request.Thinking.Budget is %d: %s takes no budget; set Level to minimal, low, medium or high", *t.Budget, model)
	case t.Level != "" && f.budgets:
		return refuse(to.provider, "Request.Thinking.Level is %q: %s takes no level; set Budget, in tokens", t.Level, model)
	case t.Budget != nil && (*t.Budget < -1 || *t.Budget > math.MaxInt32):
		return refuse(to.provider, "Request.Thinking.Budget is %d: want a number of tokens, 0 for none, or -1 for the model to choose", *t.Budget)
	}
	cfg := &genai.ThinkingConfig{IncludeThoughts: !off}
	switch {
	case off:
		cfg.ThinkingBudget = new(int32(0))
	case t.Budget != nil:
		cfg.ThinkingBudget = new(int32(*t.Budget))
	default:
		cfg.ThinkingLevel = genai.ThinkingLevel(strings.ToUpper(t.Level))
	}
	r.config.ThinkingConfig = cfg
	return nil
}
