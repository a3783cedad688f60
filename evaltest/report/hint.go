package report

import "github.com/goevals/evals/llm"

// hints say what to do about an error of each kind.
var hints = map[llm.ErrorKind]string{
	llm.KindUnknown:     "what it means is not known, so it was not tried again; an error that holds the HTTP status is told apart (call.Classify)",
	llm.KindAuth:        "check the API key and what it is allowed to do",
	llm.KindBalance:     "the account is out of money; waiting does not help",
	llm.KindRateLimit:   "run these again later; a Scope with RPM and TPM keeps below the limit",
	llm.KindQuota:       "the day's quota is used up: run these again when it is renewed",
	llm.KindBadRequest:  "the provider refuses the request: check its settings for this model",
	llm.KindNotFound:    "check the model's name and the base URL",
	llm.KindContext:     "the prompt is longer than the model takes: shorten it or take another model",
	llm.KindBlocked:     "a content filter stopped it: look at the prompt",
	llm.KindServer:      "the provider failed: run these again",
	llm.KindConnection:  "check the network and the base URL, then run these again",
	llm.KindIncomplete:  "answers broke off on the way: run these again",
	llm.KindBadResponse: "what answers is not the model: check the base URL and any proxy",
	llm.KindTimeout:     "raise AttemptTimeout or Timeout, whichever was up, or lower the parallelism, then run these again",
	llm.KindCanceled:    "the run was stopped: resume to finish it",
	llm.KindMiss:        "the recording does not know this request: record again",
	llm.KindPanic:       "the strategy or application panicked: its stack is in the item's log",
	llm.KindUnusable:    "no attempt gave an answer that could be used: look at the replies or allow more attempts",
}
