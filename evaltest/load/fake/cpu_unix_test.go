//go:build unix

package fake_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
