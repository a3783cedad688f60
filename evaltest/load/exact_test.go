package load_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// longestExact is the length up to which prompts must be exact, in tokens.
const longestExact = 30_000

// lengthsTo are 1 to all, and so many from there to longest, each as many times
// the one before.
func lengthsTo(all, spread, longest int) (list []int) {
	for n := 1; n <= min(all, longest); n++ {
		list = append(list, n)
	}
	for i := 1; i <= spread && longest > all; i++ {
		list = append(list, int(math.Round(float64(all)*math.Pow(float64(longest)/float64(all), float64(i)/float64(spread)))))
	}
	return list
}

// pairs ask for an answer of one token each.
func pairs(lengths []int) (list []workload.Pair) {
	for _, n := range lengths {
		list = append(list, workload.Pair{Input: n, Output: 1})
	}
	return list
}

// unequal sends a workload of so many requests to a server whose usage is taken
// for the truth, and fails the test for each prompt that is not of its length.
func unequal(t *testing.T, cfg client.Config, opt workload.Options, n int) {
	t.Helper()
	source, err := workload.New(opt)
	require.NoError(t, err)
	off := map[int][]int{} // what came, by what was asked
	rep, err := load.Run(t.Context(), load.Load{
		Client: cfg, Source: source, Users: 4, Seed: 1,
		Phases: arrival.Phases{Measured: arrival.Limit{Count: n}},
		Metric: metric.Config{Limits: easy, CacheWanted: true, InputTolerance: metric.Tolerance{Exact: true}, OutputTolerance: metric.Tolerance{Exact: true}},
		Sink: func(r *record.Request) error {
			if int(r.Usage.Input) != r.AskedInput {
				off[r.AskedInput] = append(off[r.AskedInput], int(r.Usage.Input))
			}
			return nil
		},
	})
	require.NoError(t, err)
	require.NoError(t, rep.Problem())
	assert.EqualValues(t, n, rep.Result.Counts.OK)
	assert.EqualValues(t, n, rep.Result.Lengths.InputAsked, "every answer had a length to compare")
	assert.Zero(t, rep.Result.Lengths.Input)
	assert.Zero(t, rep.Result.Lengths.Output)
	assert.Empty(t, off, "lengths that the server counted, by the one that was asked")
}

// tokenizers are two of OpenAI's, with vocabularies of 200,000 and 100,000 tokens,
// and a small byte-level BPE of a tokenizer.json, in which words are in pieces.
func tokenizers(t *testing.T) (list []token.Tokenizer) {
	t.Helper()
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		tok, err := token.Encoding(name)
		require.NoError(t, err)
		list = append(list, tok)
	}
	small, err := token.Open("token/testdata/tokenizer.json")
	require.NoError(t, err)
	return append(list, small)
}

// TestExactPrompts: a server that counts with a real tokenizer reports each length
// from 1 to 30,000 as it was asked, without and with a salt.
func TestExactPrompts(t *testing.T) {
	t.Parallel()
	lengths := lengthsTo(300, 40, longestExact) // where a salt, a prefix and odd ends meet, and a spread
	if testing.Short() || raceDetector {
		lengths = lengthsTo(60, 10, 1000)
	}
	for i, tok := range tokenizers(t) {
		makers := map[string]token.Maker{"random": token.Random(tok)}
		if i < 2 { // the small one has not all of the words
			makers["words"] = token.Words{}
		}
		for name, maker := range makers {
			for salted, salt := range map[string]workload.Salt{"salt": {Value: 5}, "none": {Off: true}} {
				t.Run(tok.Name()+"/"+name+"/"+salted, func(t *testing.T) {
					url, _ := serve(t, &fake.Server{Count: func(text string) int { return token.Count(tok, text) }})
					unequal(t, client.Config{Host: url, Model: "m", RequireUsage: true},
						workload.Options{Text: maker, Seed: 11, Pairs: pairs(lengths), Salt: salt}, len(lengths))
				})
			}
		}
	}
}

// TestExactPrefixes: prompts with a part in common are exact as well, and so are
// those of the API without roles.
func TestExactPrefixes(t *testing.T) {
	t.Parallel()
	n := 120
	if testing.Short() || raceDetector {
		n = 20
	}
	for i, tok := range tokenizers(t) {
		makers := map[string]token.Maker{"random": token.Random(tok)}
		if i < 2 {
			makers["words"] = token.Words{}
		}
		for name, maker := range makers {
			base := workload.Options{
				Text: maker, Seed: 12, Salt: workload.Salt{Value: 6}, Count: n,
				Input: workload.Must(workload.Uniform(1, 400)), Output: workload.Must(workload.Fixed(2, 1)),
			}
			for _, row := range []struct {
				name, reason string
				api          client.API
				change       func(*workload.Options)
			}{
				{"half", "each prompt's own half is common", client.Chat, func(o *workload.Options) { o.Overlap = workload.Overlap{Share: 0.5, Step: 16} }},
				{"all", "nothing is a prompt's own", client.Chat, func(o *workload.Options) { o.Overlap = workload.Overlap{Share: 1, Step: 32} }},
				{"shortest", "BatchBench's rule", client.Chat, func(o *workload.Options) {
					o.Overlap, o.Input = workload.Overlap{Share: 0.7, Of: workload.OfShortest}, workload.Must(workload.Uniform(90, 400))
				}},
				{"groups", "one of three beginnings, added to the length", client.Chat, func(o *workload.Options) {
					o.Groups = workload.Groups{Count: 3, Tokens: 37, Weights: []float64{5, 2, 1}}
				}},
				{"system", "the beginning is a message of its own", client.Chat, func(o *workload.Options) { o.Groups = workload.Groups{Count: 3, Tokens: 37, System: true} }},
				{"completions", "a prompt without roles", client.Completions, func(o *workload.Options) { o.Overlap = workload.Overlap{Share: 0.25, Step: 16} }},
				{"half, long salt", "the salt is whole steps of what is common", client.Chat, func(o *workload.Options) { o.Overlap, o.Salt.Tokens = workload.Overlap{Share: 0.5, Step: 16}, 40 }},
				{"long salt", "as long as many prompts", client.Chat, func(o *workload.Options) { o.Salt.Tokens = 150 }},
			} {
				t.Run(tok.Name()+"/"+name+"/"+row.name, func(t *testing.T) {
					url, _ := serve(t, &fake.Server{Count: func(text string) int { return token.Count(tok, text) }})
					opt := base
					row.change(&opt)
					unequal(t, client.Config{Host: url, Model: "m", API: row.api, RequireUsage: true}, opt, n)
				})
			}
		}
	}
}
