package wire

import "fmt"

// spareDescriptors are for what a test opens beside its calls: files, pipes,
// the resolver, other connections.
const spareDescriptors = 128

// Descriptors is how many files and sockets this process may have open at once
// (the soft RLIMIT_NOFILE); ok is false where the system has no such limit or
// does not tell. Go raises the soft limit to the hard one when a program
// starts, so what a shell shows may be less.
func Descriptors() (soft uint64, ok bool) { return descriptors() }

// CheckDescriptors returns an error if the process may not have enough sockets
// open for this many calls in flight, each over a connection of its own, and
// 128 other files. It is meant for a warning before a run: calls would fail
// with "too many open files" in the middle of it.
func CheckDescriptors(parallel int) error {
	soft, ok := descriptors()
	return checkDescriptors(parallel, soft, ok)
}

func checkDescriptors(parallel int, soft uint64, ok bool) error {
	need := uint64(max(parallel, 0)) + spareDescriptors
	if !ok || need <= soft {
		return nil
	}
	return fmt.Errorf("wire: %d calls in flight need about %d open files, and the limit of this process is %d: raise the hard limit (ulimit -Hn), or run fewer at once", parallel, need, soft)
}
