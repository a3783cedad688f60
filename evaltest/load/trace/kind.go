package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a format of traces.
type Kind string

// Kinds.
const (
	// Mooncake is JSONL with timestamp (ms), input_length, output_length and
	// hash_ids (512 tokens each), and AIPerf's extension of it: session_id,
	// delay (ms), text_input, messages and message_mode.
	Mooncake Kind = "mooncake"
	// Bailian is JSONL with chat_id, parent_chat_id (-1: none), timestamp (s),
	// input_length, output_length and hash_ids (16 tokens each).
	Bailian Kind = "bailian"
	// Azure is CSV with TIMESTAMP (a date), ContextTokens and GeneratedTokens.
	Azure Kind = "azure"
	// BurstGPT is CSV with Timestamp (s), Request tokens and Response tokens,
	// and in newer files Session ID and Elapsed time (s).
	BurstGPT Kind = "burstgpt"
	// ShareGPT is a JSON array, or JSONL, of conversations without times.
	ShareGPT Kind = "sharegpt"
	// OTel is JSON of OpenTelemetry GenAI spans (ns): OTLP exports
	// (resourceSpans), one or one a line, or spans, one a line or in an array.
	OTel Kind = "otel"
)

// A format is what is known of a Kind.
type format struct {
	kind  Kind
	unit  string // of timestamps
	block int    // tokens a hash id stands for; 0: it has none
	// has are columns, of which all must be there, in lower case.
	has []string
	csv bool
}

// formats are tried in this order: a Bailian row also looks like Mooncake's.
var formats = []format{
	{kind: Azure, unit: "wall clock", has: []string{"timestamp", "contexttokens", "generatedtokens"}, csv: true},
	{kind: BurstGPT, unit: "seconds", has: []string{"timestamp", "request tokens", "response tokens"}, csv: true},
	{kind: OTel, unit: "nanoseconds", has: []string{"resourcespans"}},
	{kind: OTel, unit: "nanoseconds", has: []string{"resource_spans"}},
	{kind: OTel, unit: "nanoseconds", has: []string{"traceid", "spanid"}},
	{kind: OTel, unit: "nanoseconds", has: []string{"trace_id", "span_id"}},
	{kind: OTel, unit: "nanoseconds", has: []string{"context", "attributes"}},
	{kind: ShareGPT, unit: "none", has: []string{"conversations"}},
	{kind: Bailian, unit: "seconds", block: 16, has: []string{"chat_id", "parent_chat_id", "input_length"}},
	{kind: Mooncake, unit: "milliseconds", block: 512, has: []string{"input_length"}},
	{kind: Mooncake, unit: "milliseconds", block: 512, has: []string{"text_input"}},
	{kind: Mooncake, unit: "milliseconds", block: 512, has: []string{"messages"}},
	{kind: Mooncake, unit: "milliseconds", block: 512, has: []string{"hash_ids"}},
}

// Kinds returns all kinds, sorted.
func Kinds() []Kind {
	kinds := []Kind{Mooncake, Bailian, Azure, BurstGPT, ShareGPT, OTel}
	slices.Sort(kinds)
	return kinds
}

// ParseKind returns the kind of this name, whatever its case; "" and "auto"
// are the zero Kind, which is told by what the file holds. Another name is
// [ErrKind].
func ParseKind(name string) (Kind, error) {
	k := Kind(strings.ToLower(strings.TrimSpace(name)))
	if k == "" || k == "auto" {
		return "", nil
	}
	if !slices.Contains(Kinds(), k) {
		return "", fmt.Errorf("%w: %s; known are %s", ErrKind, quote(name), kindNames())
	}
	return k, nil
}

func kindNames() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (k Kind) format() format {
	for _, f := range formats {
		if f.kind == k {
			return f
		}
	}
	return format{kind: k}
}

// Unit is what the timestamps of such a file are: "milliseconds", "seconds",
// "nanoseconds", "wall clock" or "none".
func (k Kind) Unit() string { return k.format().unit }

// BlockTokens is how many tokens a hash id of such a file stands for; 0 if it
// has none.
func (k Kind) BlockTokens() int { return k.format().block }
