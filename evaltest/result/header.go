package result

import "time"

// Format names the journal's format and version, the first thing in a file.
const Format = kind + "1"

// kind is what the format of every version begins with.
const kind = "evals.journal/"

// A Header is the first line of a journal: what was run, and with what.
type Header struct {
	// Format is [Format]; Create sets it.
	Format string `json:"format"`
	// Created is when the journal was begun; Create sets it if it is zero.
	Created time.Time `json:"created"`
	// Module, Package and Test say whose run it is: a module path, an import
	// path and the test's full name.
	Module  string  `json:"module,omitempty"`
	Package string  `json:"package,omitempty"`
	Test    string  `json:"test,omitempty"`
	Dataset Dataset `json:"dataset"`
	// Strategy, Grader and Judge are names for people; "" for no judge.
	Strategy string `json:"strategy,omitempty"`
	Grader   string `json:"grader,omitempty"`
	Judge    string `json:"judge,omitempty"`
	// Samples and Attempts are per item, both at least 1.
	Samples  int `json:"samples"`
	Attempts int `json:"attempts"`
	// Options are the run's other settings, as text. Never keys.
	Options map[string]string `json:"options,omitempty"`
	// Fingerprint holds whatever must be equal for two runs to be compared:
	// model, prompt hash, grader version, ….
	Fingerprint map[string]string `json:"fingerprint,omitempty"`
	// Go is the toolchain's version; Create sets it if it is empty.
	Go string `json:"go,omitempty"`
}

// A Dataset says which items a run was over.
type Dataset struct {
	Name   string `json:"name,omitempty"`
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of the file, hexadecimal
	Items  int    `json:"items"`            // how many were selected
	// Selection says how they were selected: limit, sample, ids, shard; ""
	// for the whole file.
	Selection string `json:"selection,omitempty"`
}

// An End is the last line of a journal whose run came to an end, complete or
// not. A journal without one was cut off: killed, or still being written.
type End struct {
	Finished time.Time `json:"finished"` // Close sets it if it is zero
	// Complete is set when every item has a record and none is not_run. Some
	// may be errored: a resumed run asks those again.
	Complete bool `json:"complete"`
	// Reason says why a run is not complete: interrupt, deadline, fail-fast;
	// curtailed, if the rest could not change what its gates decide.
	Reason string `json:"reason,omitempty"`
	// Counts are the run's answers by outcome; those that it owed and has no
	// record of are not_run.
	Counts Counts `json:"counts,omitempty"`
	// Fingerprint is what of [Header.Fingerprint] is known only now: the model,
	// as it reported itself.
	Fingerprint map[string]string `json:"fingerprint,omitempty"`
}

// Counts are numbers of answers by outcome.
type Counts map[Outcome]int
