package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goevals/evals/llm"
)

// entryVersion is the version of what a [Store] holds.
const entryVersion = 1

// An entry is a kept verdict: the reply itself, which is read again when it is
// loaded. So a file that was damaged or edited can give no verdict that a reply
// could not.
type entry struct {
	Version int              `json:"v"`
	Key     string           `json:"key"`
	Model   string           `json:"model"`
	Verdict string           `json:"verdict"` // the word
	Finish  llm.FinishReason `json:"finish,omitempty"`
	Reply   string           `json:"reply"`
}

// ErrCache is wrapped by the warnings about a judge's cache: see
// [Judge.Warnings].
var ErrCache = errors.New("judge: cache")

// key hashes all that a verdict depends on. The texts are given beside the
// prompt, which does not show the whole of a long answer. The form of the reply
// is left out: which one a provider takes may be found out in between.
func (a *asker) key(ctx context.Context, q question, texts ...string) string {
	h := sha256.New()
	for _, s := range append([]string{
		fmt.Sprint("judge ", PromptVersion, entryVersion, llm.SampleIndex(ctx)), a.name, a.fingerprint(), q.system, q.user, q.json, q.line,
	}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// cached returns the reading of the reply that the cache holds under key.
func (j *Judge) cached(key, answer string) (Reading, bool) {
	data, err := j.ask.store.Load(key)
	if err == nil && data == nil {
		return Reading{}, false
	}
	var e entry
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		j.warn(fmt.Errorf("%w: entry %s cannot be read, and the judge is asked: %w", ErrCache, key, err))
		return Reading{}, false
	}
	r := j.ask.offered.read(llm.Response{Text: e.Reply, Finish: e.Finish}, answer)
	if e.Version != entryVersion || e.Key != key || !r.Legal || r.Choice.Word != e.Verdict {
		j.warn(fmt.Errorf("%w: entry %s is not what this judge keeps (version %d, key %.100q, verdict %.100q), and the judge is asked: delete it",
			ErrCache, key, e.Version, e.Key, e.Verdict))
		return Reading{}, false
	}
	return r, true
}

// keep stores a legal reading. Nobody else calls Store: what is cut, malformed
// or off the menu never gets here.
func (j *Judge) keep(key string, r Reading, resp llm.Response) {
	data, err := json.Marshal(entry{entryVersion, key, j.ask.name, r.Choice.Word, resp.Finish, strings.ToValidUTF8(resp.Text, "\uFFFD")})
	if err == nil {
		err = j.ask.store.Store(key, append(data, '\n'))
	}
	if err != nil {
		j.warn(fmt.Errorf("%w: the verdict was not kept, and will be paid for again: %w", ErrCache, err))
	}
}

// mostWarnings is how many warnings a judge keeps.
const mostWarnings = 20

func (j *Judge) warn(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.warnings) < mostWarnings {
		j.warnings = append(j.warnings, err)
	}
}
