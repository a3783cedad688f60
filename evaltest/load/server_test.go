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
// EVALS_TEST_TOKENIZER, the model's own as token.Load takes it, random text is sent
// too, and of words that are in pieces the server must count as many as it does.
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
				opt := workload.Options{Text: maker, Seed: 11, Pairs: pairs(lengths), Salt: workload.Salt{Value: workload.NewSeed()}}
				counted, exact := realUsage(t, cfg, opt), 0
				off := map[int]int{}
				for asked, want := range realWant(t, opt, own) {
					if counted[asked]-overhead == asked {
						exact++
					}
					if counted[asked]-overhead != want {
						off[asked] = counted[asked] - overhead - want
					}
				}
				t.Logf("%d of %d prompts of 1 to %d tokens are exact, less %d tokens that the server adds to each; the server counts %d otherwise than was foreseen",
					exact, len(lengths), slices.Max(lengths), overhead, len(off))
				assert.Empty(t, off, "how many tokens more the server counted, by the number asked")
			})
		}
	}
}

// realWant is how many tokens the prompts have, by the number asked: as many, or
// what the model's own tokenizer says if there is one.
func realWant(t *testing.T, opt workload.Options, own token.Tokenizer) map[int]int {
	t.Helper()
	source, err := workload.New(opt)
	require.NoError(t, err)
	want := map[int]int{}
	for seq, p := range opt.Pairs {
		req, err := source.Request(seq)
		require.NoError(t, err)
		if want[p.Input] = p.Input; own != nil {
			want[p.Input] = token.Count(own, req.Prompt)
		}
	}
	return want
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
