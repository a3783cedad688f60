package llm

// Usage counts tokens, with one meaning for every provider: CachedInput is
// part of Input, Reasoning is part of Output. Unknown is not zero: Known is
// false when the provider reported nothing that could be read.
type Usage struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input,omitempty"`
	Output      int64 `json:"output"`
	Reasoning   int64 `json:"reasoning,omitempty"`
	Known       bool  `json:"known,omitempty"`
	// CacheWrite is the part of Input, none of it in CachedInput, that the
	// provider says it wrote to its cache: some charge more for it.
	// CacheWriteHour is the part of that which is kept for an hour.
	CacheWrite     int64 `json:"cache_write,omitempty"`
	CacheWriteHour int64 `json:"cache_write_1h,omitempty"`
}

// Add returns the sum of u and v. The sum is Known if either is: it then
// counts what is known, and callers that add up many keep the number of
// unknown ones beside it (see [UsageTotal]).
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		Output:      u.Output + v.Output,
		Reasoning:   u.Reasoning + v.Reasoning,
		Known:       u.Known || v.Known,

		CacheWrite:     u.CacheWrite + v.CacheWrite,
		CacheWriteHour: u.CacheWriteHour + v.CacheWriteHour,
	}
}

// UsageTotal is the usage of several calls.
type UsageTotal struct {
	Usage
	// Calls is how many calls there were, Unknown how many of them reported
	// no usage: if it is not 0, the tokens are "at least".
	Calls   int `json:"calls"`
	Unknown int `json:"unknown,omitempty"`
}

// Count adds one call's usage.
func (t *UsageTotal) Count(u Usage) {
	t.Calls++
	if !u.Known {
		t.Unknown++
		return
	}
	t.Usage = t.Usage.Add(u)
}

// Merge adds another total.
func (t *UsageTotal) Merge(v UsageTotal) {
	t.Usage = t.Usage.Add(v.Usage)
	t.Calls += v.Calls
	t.Unknown += v.Unknown
}

// Since is what t counts beyond was, an earlier state of it: Merge undone. It is
// Known if one of the calls since then reported its usage.
func (t UsageTotal) Since(was UsageTotal) UsageTotal {
	t.Input -= was.Input
	t.CachedInput -= was.CachedInput
	t.Output -= was.Output
	t.Reasoning -= was.Reasoning
	t.CacheWrite -= was.CacheWrite
	t.CacheWriteHour -= was.CacheWriteHour
	t.Calls -= was.Calls
	t.Unknown -= was.Unknown
	t.Known = t.Calls > t.Unknown
	return t
}
