package fake

import (
	"net/http"
	"time"
)

// A Seen is one request as the server saw it. Times are of this machine's
// clock; they have a monotonic reading too, so that they can be subtracted from
// one another and from the client's in the same process.
type Seen struct {
	// N numbers the calls from 0 in the order of arrival, that is, of the moments
	// at which they had been read and counted; -1 for what is not a call: the
	// list of models and paths that there are not. The id of an answer ends with
	// it: "chatcmpl-17".
	N int
	// Conn numbers the connections from 0 in the order in which they were accepted.
	Conn int
	// Path is the URL's, without the query.
	Path string
	// Header is the request's.
	Header http.Header
	// Body is the request's, as it came.
	Body []byte
	// User and Model are the fields of the body, "" if there are none.
	User, Model string
	// Messages is how many there were; 0 for a prompt.
	Messages int
	// Input is the prompt's length in tokens, Cached how many of them were in
	// the cache, Output how many tokens of the answer were written.
	Input, Cached, Output int
	// Asked is how many tokens the answer should have.
	Asked int
	// Streamed says that the answer was asked for in pieces.
	Streamed bool
	// Status is the answer's; 0 if nothing was written. A call that failed after
	// some tokens of a stream has 200.
	Status int
	// Arrived is when the read of its last byte returned.
	Arrived time.Time
	// Began is when it had its slot; Arrived without Server.Slots, zero if it
	// never had one.
	Began time.Time
	// Due are the times by the schedule of the events that were written, and
	// Written those just before each was handed to the kernel; events that go
	// out together have one time. A whole answer is one.
	Due, Written []time.Time
	// Ended is when the last byte had been handed to the kernel, or when the
	// call was given up.
	Ended time.Time
	// Failed says that Server.Fail made it fail, Refused that the request was
	// wrong, and why.
	Failed  bool
	Refused string
	// Canceled says that the client went away first, or closed its half of the
	// connection, or that the server was stopped.
	Canceled bool
}

// Counts are the sums of a server. Requests is the sum of Answered, Failed,
// Refused, Canceled and InFlight. What is not a call, and calls that did not
// come whole, are in none but Other.
type Counts struct {
	Requests int // calls that came whole
	Answered int // to their end
	Failed   int // as Server.Fail said
	Refused  int // because the request was wrong
	Canceled int // the client went away first, or the server was stopped
	Other    int // models listed, and requests that were no calls
	// InFlight are those that have come and have not ended, MostInFlight is how
	// many that were at most, with those that wait for a slot.
	InFlight, MostInFlight int
	// Connections is how many were accepted; AcceptErrors how often the system
	// refused one, as for want of file descriptors.
	Connections, AcceptErrors int
	// Input, Cached and Output are tokens: of all calls but those refused, and
	// of what was written.
	Input, Cached, Output int64
}
