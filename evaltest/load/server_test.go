package load_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// TestRealServer compares lengths with the usage of a real model server, less what
// its chat template adds to a request, which is measured with a prompt of one
// token. It asks 60 prompts of up to EVALS_TEST_LONGEST tokens (default
// 1,500) for one token each:
//
//	EVALS_TEST_SERVER=http://localhost:8080 EVALS_TEST_MODEL=m go test -v -run RealServer ./evaltest/load
//
// Words are exact for vocabularies that have them, which token.Words lists. With
// EVALS_TEST_TOKENIZER, as token.Load takes it, random text by the model's own
// tokenizer is sent too, and words that are in pieces are only told of.
func TestRealServer(t *testing.T) {
	url, model := os.Getenv("EVALS_TEST_SERVER"), os.Getenv("EVALS_TEST_MODEL")
	if url == "" || model == "" {
		t.Skip("asks a real model server: set EVALS_TEST_SERVER to its URL and EVALS_TEST_MODEL to a model's name")
	}
	longest := 1500
	if s := os.Getenv("EVALS_TEST_LONGEST"); s != "" {
		var err error
		longest, err = strconv.Atoi(s)
		require.NoError(t, err, "EVALS_TEST_LONGEST")
	}
	lengths := lengthsTo(32, 28, longest) // a small machine reads some hundred tokens a second
	makers := map[string]token.Maker{"words": token.Words{}}
	var own token.Tokenizer
	if name := os.Getenv("EVALS_TEST_TOKENIZER"); name != "" {
		var err error
		own, err = token.Load(t.Context(), name, token.HubFromEnv(os.Getenv))
		require.NoError(t, err)
		makers["random"] = token.Random(own)
	}
	for _, api := range []client.API{client.Chat, client.Completions} {
		for name, maker := range makers {
			t.Run(string(api)+"/"+name, func(t *testing.T) {
				cfg := client.Config{Host: url, Model: model, API: api, RequireUsage: true, Key: os.Getenv("EVALS_TEST_KEY"), Retry: client.Retry{Max: 3}}
				overhead := realOverhead(t, cfg)
				off := realOff(t, cfg, maker, lengths, overhead)
				t.Logf("%d of %d prompts of 1 to %d tokens are exact, less %d tokens that the server adds to each",
					len(lengths)-len(off), len(lengths), slices.Max(lengths), overhead)
				if len(off) == 0 {
					return
				}
				if name == "words" && own != nil && !knowsWords(t, own, lengths) {
					t.Logf("this vocabulary has not all of the words: use token.Random. Off by length: %v", off)
					return
				}
				assert.Empty(t, off, "how many tokens more than asked the server counted, by the number asked")
			})
		}
	}
}

// realUsage asks for prompts of these lengths one after the other and returns the
// tokens of each that the server counted.
func realUsage(t *testing.T, cfg client.Config, opt workload.Options) map[int]int {
	t.Helper()
	source, err := workload.New(opt)
	require.NoError(t, err)
	counted := map[int]int{}
	rep, err := load.Run(t.Context(), load.Load{
		Client: cfg, Source: source, Users: 2, Seed: 1, Metric: metric.Config{Limits: easy, CacheWanted: true},
		Phases: arrival.Phases{Measured: arrival.Limit{Count: len(opt.Pairs)}},
		Sink: func(r *record.Request) error {
			if !assert.True(t, r.OK(), "%d tokens: %v", r.AskedInput, r.Failure) {
				return context.Canceled
			}
			counted[r.AskedInput] = int(r.Usage.Input)
			return nil
		},
	})
	require.NoError(t, err)
	require.NoError(t, rep.Problem())
	return counted
}

// realOverhead is what the server adds to the text of a request: a constant.
func realOverhead(t *testing.T, cfg client.Config) int {
	t.Helper()
	counted := realUsage(t, cfg, workload.Options{Text: token.Words{}, Seed: 1, Pairs: pairs([]int{1}), Salt: workload.Salt{Off: true}})
	return counted[1] - 1
}

// realOff is by how much the server's counts are off, by length.
func realOff(t *testing.T, cfg client.Config, maker token.Maker, lengths []int, overhead int) map[int]int {
	t.Helper()
	off := map[int]int{}
	for asked, got := range realUsage(t, cfg, workload.Options{Text: maker, Seed: 11, Pairs: pairs(lengths)}) {
		if got-overhead != asked {
			off[asked] = got - overhead - asked
		}
	}
	return off
}

// knowsWords reports whether a tokenizer has each of the words as one token.
func knowsWords(t *testing.T, tok token.Tokenizer, lengths []int) bool {
	t.Helper()
	n := slices.Max(lengths)
	source, err := workload.New(workload.Options{Text: token.Words{}, Seed: 11, Pairs: []workload.Pair{{Input: 50_000}}})
	require.NoError(t, err)
	req, err := source.Request(0)
	require.NoError(t, err)
	more := token.Count(tok, req.Prompt) - 50_000
	t.Logf("by the tokenizer %s 50,000 words are %d tokens more; the longest prompt had %d", tok.Name(), more, n)
	return more == 0
}
