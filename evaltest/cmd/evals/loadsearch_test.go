package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/load/fake"
)

// TestSearchPrompts: no two runs of a search share a prompt, which a server's
// prefix cache would answer from the run before.
func TestSearchPrompts(t *testing.T) {
	url, seen := serve(t, &fake.Server{})
	loaded(url, "-quiet -search -search-start 500 -search-max-tries 3 -search-lead 1 -requests 10 -slo-e2e 1m -input-tokens 12 -output-tokens 1 -seed 3")
	bodies := map[string]bool{}
	for _, s := range seen() {
		bodies[string(s.Body)] = true
	}
	assert.GreaterOrEqual(t, len(bodies), 20)
	assert.Len(t, bodies, len(seen()))
}
