package llm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

func TestUsageTotal(t *testing.T) {
	var total llm.UsageTotal
	total.Count(llm.Usage{Input: 10, CachedInput: 5, Output: 20, Reasoning: 3, Known: true, CacheWrite: 4, CacheWriteHour: 2})
	total.Count(llm.Usage{}) // U12: a reset call reports nothing
	total.Count(llm.Usage{Input: 1, Output: 2, Known: true})
	want := llm.UsageTotal{Usage: llm.Usage{Input: 11, CachedInput: 5, Output: 22, Reasoning: 3, Known: true, CacheWrite: 4, CacheWriteHour: 2}, Calls: 3, Unknown: 1}
	assert.Equal(t, want, total, "U12: one unknown call keeps the known totals")
	var sum llm.UsageTotal
	sum.Merge(total)
	sum.Merge(total)
	assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 22, CachedInput: 10, Output: 44, Reasoning: 6, Known: true, CacheWrite: 8, CacheWriteHour: 4}, Calls: 6, Unknown: 2}, sum)
}

func TestKindOf(t *testing.T) {
	inner := &llm.Error{Kind: llm.KindRateLimit}
	for _, r := range []struct {
		err  error
		want llm.ErrorKind
	}{
		{nil, ""}, {errors.New("x"), llm.KindUnknown}, {context.Canceled, llm.KindCanceled},
		{fmt.Errorf("y: %w", context.DeadlineExceeded), llm.KindTimeout},
		{fmt.Errorf("z: %w", inner), llm.KindRateLimit}, {&llm.Error{}, llm.KindUnknown},
		{llm.Unusable(nil), llm.KindUnusable},
	} {
		assert.Equal(t, r.want, llm.KindOf(r.err), "%v", r.err)
	}
}

func TestErrorText(t *testing.T) {
	err := &llm.Error{Kind: llm.KindServer, Provider: "openai", Status: 503, Code: "overloaded", Message: "try later", Err: errors.New("cause")}
	assert.Equal(t, "openai: server (HTTP 503) [overloaded]: try later: cause", err.Error())
	assert.Equal(t, "unknown", (&llm.Error{}).Error())
}
