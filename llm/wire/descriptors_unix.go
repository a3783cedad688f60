//go:build unix

package wire

import "golang.org/x/sys/unix"

func descriptors() (uint64, bool) {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 0, false
	}
	// The types differ between systems, and "no limit" is their largest value.
	return uint64(lim.Cur), true
}
