// Package token makes text of an exact number of tokens, and counts tokens as
// a model's tokenizer does.
//
// It asks no model and knows no chat template: a count is of the text alone,
// and what a server adds around it is a constant for each model that a caller
// measures with one request. It makes no request but for a tokenizer that is
// named and not at hand.
//
// Use:
//
//  1. For any modern model, without its tokenizer: [Words] makes text of
//     common English words that are one token each in all common tokenizers.
//  2. For one model exactly: [Load] takes the name of an encoding or a model
//     of OpenAI ("o200k_base", "gpt-5"), a tokenizer.json of Hugging Face or
//     the folder that holds one, or the id of a repository of the hub.
//  3. [Exact] makes random text that this tokenizer counts as n tokens, and
//     [Continue] text that adds n tokens to another; [Random] is both as a
//     maker with the methods of [Words].
//  4. [Count] counts what was sent or received.
//
// Tokenizers are safe for concurrent use. Text in the same order from the same
// random source is the same text in every release: the goldens of this
// package are there to keep it so.
package token
