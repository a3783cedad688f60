package llm_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestUsageTotalSince: each field that Merge adds up is one that Since takes
// back, a field to come too.
func TestUsageTotalSince(t *testing.T) {
	var was, more llm.UsageTotal
	visible := reflect.VisibleFields(reflect.TypeFor[llm.UsageTotal]())
	for i, f := range visible {
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int64:
			reflect.ValueOf(&was).Elem().FieldByIndex(f.Index).SetInt(int64(1 + i))
			reflect.ValueOf(&more).Elem().FieldByIndex(f.Index).SetInt(int64(100 * (len(visible) - i))) // more calls than unknown ones
		case reflect.Bool, reflect.Struct: // Known, and what is embedded
		default:
			require.Fail(t, "what is to be done with this type?", "%s %v", f.Name, f.Type)
		}
	}
	more.Known = true
	for _, known := range []bool{false, true} {
		was.Known = known
		total := was
		total.Merge(more)
		assert.Equal(t, more, total.Since(was))
		assert.Equal(t, llm.UsageTotal{}, total.Since(total), "nothing since is nothing known")
	}
	total := was
	total.Count(llm.Usage{})
	assert.Equal(t, llm.UsageTotal{Calls: 1, Unknown: 1}, total.Since(was), "an unknown call makes nothing known")
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
