// Package llm is the contract between an eval and the language models it
// calls: what is asked ([Request]), what comes back ([Response], [Usage],
// [Timing]), how it fails ([Error]) and who answers ([Model]).
//
// It is not a client. Clients live in the packages below it (llm/openai, …),
// the transport they share is llm/wire, recordings are llm/cassette. This
// package imports the standard library only, so a strategy that talks to its
// own SDK can return a Response without linking anything else.
//
// To use a model:
//
//  1. Make one: openai.New("gpt-5-nano"), or any type with a Generate method,
//     or [ModelFunc].
//  2. Build a [Request]: [Prompt] for a single user message, else Messages.
//     A setting is sent only if its pointer is set, and zero is a setting:
//     Temperature: new(0.0) sends 0.
//  3. Call Generate with the context the framework gave you: it carries the
//     item's deadline, its sample index ([SampleIndex]) and the log of calls
//     ([CallLog]) that usage is counted from.
//  4. Tell failures apart with errors.As and [Error], or [KindOf].
package llm
