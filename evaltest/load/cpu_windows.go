package load

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime is the processor time that this process has used, the system's on its
// behalf included.
func cpuTime() (time.Duration, bool) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0, false
	}
	return ticks(kernel) + ticks(user), true
}

// ticks is a span: a Filetime's own method takes it for a date.
func ticks(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
