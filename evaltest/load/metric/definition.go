package metric

import "slices"

// A Name is the name of a distribution in a result. It ends in its unit.
type Name string

// Distributions. Those of time are in nanoseconds. [Definitions] has their formulas.
const (
	TTFT         Name = "ttft_ns"              // to the first token, of any channel
	TTFO         Name = "ttfo_ns"              // to the first visible text
	ResponseTTFT Name = "response_ttft_ns"     // TTFT from when the request was due
	E2E          Name = "e2e_ns"               // to the last token
	ResponseE2E  Name = "response_e2e_ns"      // E2E from when the request was due
	Finish       Name = "finish_ns"            // to the end of the body
	Answer       Name = "answer_ns"            // Finish from the first try: what batchbench calls latency
	TPOT         Name = "tpot_ns"              // per output token after the first fragment
	ITL          Name = "itl_ns"               // between tokens: gaps weighted by the tokens behind them
	ICL          Name = "icl_ns"               // between neighbouring fragments
	NTPOT        Name = "ntpot_ns"             // E2E per output token
	UserRate     Name = "user_tok_per_s"       // tokens a second that one user sees
	Lag          Name = "lag_ns"               // from due to sent: the lateness of the client
	Queue        Name = "queue_ns"             // in which the client itself held the request
	Retry        Name = "retry_ns"             // lost to failed tries and backoff
	Connection   Name = "connection_ns"        // to dial and for TLS
	InputDiff    Name = "input_deviation_tok"  // real less asked input tokens
	OutputDiff   Name = "output_deviation_tok" // real less asked output tokens
)

// A Definition says what a number means. A result's JSON holds all of them, so
// that nobody has to guess which of the field's five meanings of a word it is.
type Definition struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
	Note    string `json:"note,omitempty"`
	// Source says who counts alike, and where others differ.
	Source string `json:"source,omitempty"`
}

// Symbols explains the letters in the formulas.
const Symbols = "t_due: intended send; t_first: first try begun; t_send: last try begun; t_conn: its connection obtained; " +
	"t_k, c_k: time and tokens of fragment k, a piece of generated text on any channel (content, reasoning, tool call; never a role, an empty delta or a comment); " +
	"t_1, t_L: first and last fragment; t_v: first fragment of visible text; t_end: [DONE] or end of body; " +
	"N: output tokens; n_1: tokens in the first fragment"

// definitions are in the order in which they are read. Sources are tools as
// they stood in 2026.
var definitions = []Definition{
	{string(TTFT), "t_1 - t_send", "time to first token, service clock; streamed answers only",
		"MLPerf Endpoints: first non-empty fragment of any channel. vLLM takes the first chunk with choices, even an empty role chunk"},
	{string(TTFO), "t_v - t_send", "time to first visible output, service clock; absent if no visible text came",
		"AIPerf TTFO, guidellm TTFOT"},
	{string(ResponseTTFT), "t_1 - t_due", "time to first token as the user of an open loop feels it: queueing and tries included",
		"MLPerf Server, wrk2 and oha with correction measure from the intended time"},
	{string(E2E), "t_L - t_send", "service clock; the usage chunk behind the last token is not in it",
		"vLLM and inference-perf end at the last token; others at [DONE]"},
	{string(ResponseE2E), "t_L - t_due", "as e2e_ns from the intended time: queueing and tries included", "wrk2, oha with correction"},
	{string(Finish), "t_end - t_send", "until the body ended, service clock", "AIPerf ends there"},
	{string(Answer), "t_end - t_first", "what batchbench calls latency: failed tries and backoff included", "batchbench-agent"},
	{string(TPOT), "(t_L - t_1) / (N - n_1)", "time per output token after the first fragment; undefined if N <= n_1, or if t_L - t_1 is below clock noise. N without tokens that were never streamed (hidden reasoning). n_1 is estimated by its share of the text where nobody counted it",
		"MLPerf Endpoints. vLLM, sglang, genai-perf and LoadGen divide by N-1, which is the same for one token a fragment; guidellm's is ntpot_ns"},
	{string(ITL), "pool of c_k samples of (t_k - t_(k-1)) / c_k, k >= 2", "inter-token latency, token-weighted over all requests: the weights add up to N - n_1, the samples to t_L - t_1",
		"genai-perf's chunked mode. vLLM's ITL is icl_ns; AIPerf, guidellm and genai-bench show one mean a request"},
	{string(ICL), "pool of t_k - t_(k-1), k >= 2", "inter-chunk latency: what is felt as stutter", "AIPerf ICL; vLLM calls it ITL"},
	{string(NTPOT), "(t_L - t_send) / N", "normalised time per output token, prefill included", "inference-perf NTPOT; guidellm calls it TPOT"},
	{string(UserRate), "1 / TPOT of each request", "tokens a second that one user sees; its mean is not 1/mean(TPOT)", "MLPerf Endpoints takes 1/TPOT_p90: user_tok_per_s_at_p90_tpot"},
	{string(Lag), "t_first - t_due", "schedule lag: how late the client was; negative if early. Failed requests included", "inference-perf schedule_delay, AIPerf replay lag"},
	{string(Queue), "max(0, t_first - t_due) + (t_conn - t_send if the connection was kept)", "time in which the client itself held the request", "vLLM client_queue_time (PR 54136)"},
	{string(Retry), "t_send - t_first", "time lost to failed tries and backoff; 0 without", "ours"},
	{string(Connection), "t_conn - t_send of new connections", "dialling and TLS; absent on a kept connection", "ours"},
	{string(InputDiff), "input tokens by the server - asked", "over requests that asked for a length and whose usage is known", "AIPerf"},
	{string(OutputDiff), "N - asked", "as input_deviation_tok", "AIPerf"},
	{"whole", "first t_first .. last t_end of the measured requests that ended", "drain tail included; what was in flight at the end is in neither numerator nor window", "vLLM, sglang"},
	{"steady, open loop", "first t_due .. last t_due of the measured phase", "tokens by time of token and answers by t_end, whatever phase they were due in; edges moved inwards to whole bins", "MLPerf Endpoints, ours"},
	{"steady, closed loop and sessions", "from when all users run until the first has ended its last answer, inside the measured phase", "as above", "MLPerf Endpoints"},
	{"finish_requests_per_s", "(n - 1) / (last t_end - first t_end) of n answers", "", "guidellm issue 93"},
	{"goodput", "answers that meet every limit / (all due requests - those cut while they could still have met them)", "failures and dropped arrivals are bad; so is an unfinished request that is already past a limit. Limits are judged on the response clock unless the SLO says service. A TPOT that is undefined for N <= n_1 meets its limit", "AIPerf good_request_fraction; inference-perf divides by answers only"},
	{"concurrency.mean", "sum of time in flight inside the window / window", "Little's law; from the first try to t_end, failed and cut requests included", "sglang"},
	{"errors_as_infinite", "percentiles with every failed or dropped request as +Inf", "lest a server that refuses fast look best", "AIPerf adj_*"},
	{"tokens", "server usage > client's count of each fragment > number of fragments", "the source is named; a run whose requests differ is flagged", "ours"},
}

// Definitions returns what each number in a result means, in a fixed order.
func Definitions() []Definition { return slices.Clone(definitions) }
