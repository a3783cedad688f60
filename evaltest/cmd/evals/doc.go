// Evals grades responses and shows what runs came to. It runs no evals itself:
// those are Go tests, and go test runs them.
//
//	evals grade -grader NAME [FILE]
//	evals show FILE|latest [-journal DIR] [-failures N]
//	evals help [COMMAND]
//
// Exit code: 0 if all went well, 1 if something did not, 2 for a mistake in the
// command line. A wrong answer is no mistake: grade ends with 0 whatever the
// verdicts are.
//
// # Grade
//
// Grade reads rows of JSON, one a line, and writes a line with the verdict for
// each, in the same order. It is the way to try a grader on answers that you
// have, in any language, and to compare graders with each other and with other
// projects' rules.
//
//  1. Write the answers as JSONL: {"response": …, "target": …} is enough.
//  2. Choose a grader: evals grade -list.
//  3. Pipe: each row is answered as it comes.
//
// The file testdata/answers.jsonl holds two answers to one question:
//
//	$ evals grade -grader numeric testdata/answers.jsonl
//	{"id":"plain","response":"16 - 3 - 4 = 9 eggs at $2 each.\n#### 18","target":"18","verdict":"correct","answer":"18","how":"numeric: marker \"####\"","score":1}
//	{"id":"bold","response":"So she makes **$18.00** every day.","target":"18","verdict":"correct","answer":"$18.00","how":"numeric: last number","score":1}
//
// The rule under which many numbers for GSM8K were published finds an answer in
// one of them only:
//
//	$ evals grade -grader lm-eval.gsm8k.strict-match testdata/answers.jsonl
//	{"id":"plain","response":"16 - 3 - 4 = 9 eggs at $2 each.\n#### 18","target":"18","verdict":"correct","answer":"18","how":"peer: lm-eval.gsm8k.strict-match (EleutherAI/lm-evaluation-harness 4e7e0d47f)","score":1}
//	{"id":"bold","response":"So she makes **$18.00** every day.","target":"18","verdict":"unparsed","answer":"","how":"peer: lm-eval.gsm8k.strict-match (EleutherAI/lm-evaluation-harness 4e7e0d47f)","score":0,"reason":"no_answer","why":"the rule extracts nothing: the number after the first \"#### \", exact_match"}
//
// A row that cannot be graded ends the program. Its error names file and line;
// nothing is left out silently, and the rows before it are written:
//
//	$ evals grade -grader exact-strict testdata/broken.jsonl
//	{"id":1,"response":"Paris","target":"Paris","verdict":"correct","answer":"Paris","how":"exact-strict: the same bytes","score":1}
//	evals: testdata/broken.jsonl:2: field "response": it is missing; each row needs the text to grade ("" if there was none)
//
// Text that a terminal may obey is escaped, and output is valid JSON whatever
// the responses hold. Standard input is answered row by row, a file as fast as
// it goes.
//
// # Show
//
// Show prints a run's summary from its journal, finished or not:
//
//	evals show latest
//
// Latest is the newest journal under the folder that -journal names, or the
// environment variable EVALTEST_DIR, or in the user's cache folder.
package main
