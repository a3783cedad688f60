// Evals grades responses, prices calls, shows and compares what runs came to, and
// puts model servers under load. It runs no evals itself: those are Go tests, and
// go test runs them.
//
//	evals grade -grader NAME [FILE]
//	evals show FILE|latest [-journal DIR] [-failures N]
//	evals stat OLD NEW
//	evals merge -o OUT PART...
//	evals cost [-model M] [-prices FILE] [FILE]
//	evals load -host URL -model MODEL [FLAGS]
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
// The grader judge-reply says what verdict a judge's reply amounts to, and why,
// without asking anybody. The file testdata/judge.jsonl holds three replies:
//
//	$ evals grade -grader judge-reply testdata/judge.jsonl
//	{"id":"good","response":"It names the same city.\nGRADE: C","target":null,"verdict":"correct","answer":"C","how":"judge: line \"GRADE: C\"","score":1}
//	{"id":"against itself","response":"{\"pass\":true,\"score\":0}","target":null,"verdict":"incorrect","answer":"I","how":"judge: JSON field \"pass\", \"score\"","score":0,"reason":"judge_contradictory","why":"the judge's reply contradicts itself, and so does not pass: \"{\\\"pass\\\":true,\\\"score\\\":0}\""}
//	{"id":"off the menu","response":"GRADE: CI","target":null,"verdict":"ungraded","answer":"","how":"judge: no legal verdict","score":0,"reason":"judge_off_menu","why":"the judge's verdict \"CI\" is not C or I; it replied \"GRADE: CI\""}
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
// # Cost
//
// Cost reads rows with the usage that a provider reported, as it came over the
// wire, and writes what each came to: tokens that mean the same for every
// provider, and the cost as an exact decimal, or null where it is not known.
//
//  1. Keep the usage objects: {"provider": …, "model": …, "usage": …} a line.
//  2. Give prices where the table of list prices is not yours: in a row as
//     prices_per_million, or for all rows with -prices.
//  3. Pipe: each row is priced as it comes.
//
// The file testdata/usage.jsonl holds a call to OpenAI, one to Gemini with
// prices of its own, one through OpenRouter, which says itself what a call cost,
// and one to a server that nobody knows a price of:
//
//	$ evals cost testdata/usage.jsonl
//	{"input":2006,"cached":1920,"output":300,"reasoning":0,"usd":"0.005615"}
//	{"input":250000,"cached":0,"output":150,"reasoning":100,"usd":"0.62725"}
//	{"input":107,"cached":0,"output":58,"reasoning":0,"usd":"0.0000223"}
//	{"input":20,"cached":0,"output":5,"reasoning":0,"usd":null}
//	evals: testdata/usage.jsonl:4: no usd: model "our-model" has no price on "vllm"
//	evals: rows without a price: name who bills in provider, or give prices in prices_per_million or with -prices FILE
//
// # Agent
//
// Agent loads a model server with agents: conversations that grow by the server's
// answer and a tool's, wait as long as the tool takes, and start over. It takes the
// flags of batchbench-agent; evals help agent lists them, and what differs.
//
//  1. Say what the agents do: by lengths (-agents, -input-tokens and so on), by a
//     manifest of trajectories (-agent-plans-jsonl), or by a trace of real traffic
//     (-trace).
//  2. Look at the plan with -dry-run, or keep it with -write-plans. Nothing is sent.
//  3. Run it against a server: -host and -model. Requests and trajectories are
//     written as they end (-requests-jsonl, -agent-events-jsonl), the summary, the
//     CSV and the JSON when all is over, or after Ctrl+C.
//
// The file testdata/plans.jsonl holds two trajectories, the second of which starts
// its conversation over:
//
//	$ evals agent -agent-plans-jsonl testdata/plans.jsonl -dry-run -quiet -seed 7
//	[DRY-RUN] agent=0 invocation=1 input_content_tokens=256 output_tokens=64 environment_tokens=128 tool_call_latency_ms=25 trajectory_id=short routing_slot=0 admitted_at_ms=0 target_prompt_tokens=256 reset_before=false
//	[DRY-RUN] agent=0 invocation=2 input_content_tokens=448 output_tokens=96 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=short routing_slot=0 admitted_at_ms=0 target_prompt_tokens=448 reset_before=false
//	[DRY-RUN] agent=1 invocation=1 input_content_tokens=768 output_tokens=128 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=compacting routing_slot=1 admitted_at_ms=0 target_prompt_tokens=768 reset_before=false
//	[DRY-RUN] agent=1 invocation=2 input_content_tokens=384 output_tokens=64 environment_tokens=0 tool_call_latency_ms=0 trajectory_id=compacting routing_slot=1 admitted_at_ms=0 target_prompt_tokens=384 reset_before=true
//
// A run ends with 1 if nothing was answered, if the client was the bottleneck, or
// if a threshold (-require, -slo-share) was missed.
//
// # Show
//
// Show prints a run's summary from its journal, finished or not:
//
//	evals show latest
//
// Latest is the newest journal under the folder that -journal names, or the
// environment variable EVALTEST_DIR, or in the user's cache folder. With
// -failures it also lists answers that are not correct, and of each that took
// several calls what became of every one and what it waited for.
//
// # Stat
//
// Stat compares two runs, journals or baselines, item by item:
//
//	evals stat testdata/support.baseline.jsonl.gz latest
//
// It says whether the new one is regressed, improved, shows no evidence of a
// drop, or is not enough data; by how much and how sure; which items broke and
// were fixed; and how large a drop these items would have shown. With -fail it
// ends with 1 if the new run is regressed or there is not enough data. How the
// runs were made is compared first, and every difference is told.
//
// # Merge
//
// Merge makes one journal of those of a run's parts, which several machines ran
// with EVALTEST_PART=1/4 to 4/4:
//
//	evals merge -o run.jsonl.gz part-*/*.jsonl.gz
//
// Parts of different runs are refused. A part that is missing is named, and the
// rest is written.
//
// # Load
//
// Load sends requests to a model server and measures every piece of the answers.
// It takes all flags of batchbench; "evals help load" lists them by topic, and
// what differs.
//
//  1. Say where: -host, -model. Say what: -input-tokens, -output-tokens, or their
//     distributions, or a file.
//  2. Say when: -users for a closed loop, -rate, -stages or -trace for an open
//     one, and how much is measured: -duration, -requests, -warmup.
//  3. Look at it without sending anything: -dry-run.
//  4. Run it. Keep every request with -requests-jsonl, the numbers with -json,
//     -results-csv or -bench, and make it end with an error with -require.
//
// A closed loop of two users, with the first two requests as a warm-up. Prompts
// begin alike for half of their length, which a prefix cache may know:
//
//	$ evals load -dry-run -host http://127.0.0.1:8000 -model m -seed 1 -no-salt -users 2 -requests-per-user 3 -warmup 2x -input-tokens 100 -input-vary 20 -input-prefix-overlap 0.5 -output-tokens 50
//	[DRY-RUN] seq=0 user=0 due_ms=0.000 phase=warm-up input_tokens=108 output_tokens=50 shared_prefix_tokens=54 group=- possible_cached_tokens=0 entry=- stream=true body_bytes=1007
//	[DRY-RUN] seq=1 user=1 due_ms=0.000 phase=warm-up input_tokens=99 output_tokens=50 shared_prefix_tokens=49 group=- possible_cached_tokens=49 entry=- stream=true body_bytes=924
//	[DRY-RUN] seq=2 user=0 due_ms=- phase=measured input_tokens=111 output_tokens=50 shared_prefix_tokens=55 group=- possible_cached_tokens=54 entry=- stream=true body_bytes=1012
//	[DRY-RUN] seq=3 user=1 due_ms=- phase=measured input_tokens=114 output_tokens=50 shared_prefix_tokens=57 group=- possible_cached_tokens=55 entry=- stream=true body_bytes=1036
//	[DRY-RUN] seq=4 user=0 due_ms=- phase=measured input_tokens=93 output_tokens=50 shared_prefix_tokens=46 group=- possible_cached_tokens=46 entry=- stream=true body_bytes=854
//	[DRY-RUN] seq=5 user=1 due_ms=- phase=measured input_tokens=91 output_tokens=50 shared_prefix_tokens=45 group=- possible_cached_tokens=45 entry=- stream=true body_bytes=851
//	Load: closed loop, 2 users with 3 requests each, warm-up 2x
//	Server: http://127.0.0.1:8000/v1/chat/completions, model m, streamed
//	Input tokens: 100 ± 20 (uniform, 80 to 120), of which a share of 0.5 is the same in all
//	Output tokens: 50
//	Text: words that are one token each in all common tokenizers; no salt
//	Seed: 1
//	Input lengths: n=6 min=91 mean=102.7 median=108 p95=114 p99=114 max=114
//	   91..92  1 ##################################################
//	   93..94  1 ##################################################
//	   95..96  0
//	   97..98  0
//	   99..100 1 ##################################################
//	  101..102 0
//	  103..104 0
//	  105..106 0
//	  107..108 1 ##################################################
//	  109..110 0
//	  111..112 1 ##################################################
//	  113..114 1 ##################################################
//
// The numbers in a run's summary are batchbench's, by its definitions; -full has
// all others. A run whose numbers speak of this client rather than of the server
// is not valid, and ends with 1. "evals load -calibrate" measures what this
// machine can do at most.
package main
