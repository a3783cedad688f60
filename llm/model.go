package llm

import "context"

// A Model answers requests. Generate must be safe for concurrent use and must
// return soon after ctx is done. A failure is an *[Error] wherever the cause
// is known; the Response returned beside it may hold what had arrived (text so
// far, usage, timing).
type Model interface {
	Generate(ctx context.Context, req Request) (Response, error)
}

// ModelFunc makes a function a [Model].
type ModelFunc func(context.Context, Request) (Response, error)

var _ Model = ModelFunc(nil)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, req Request) (Response, error) { return f(ctx, req) }
