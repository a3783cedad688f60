package fake

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A timerAlarm is a timer of the kernel as a file, which the runtime waits for
// as it waits for sockets: to the microsecond, and without a thread.
type timerAlarm struct {
	fd   int
	file *os.File
}

// newAlarm returns nil if the system has none: the runtime's timers do then.
func newAlarm() alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &timerAlarm{fd, os.NewFile(uintptr(fd), "timerfd")}
}

func (a *timerAlarm) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	_ = unix.TimerfdSettime(a.fd, 0, &spec, nil) // it fails for arguments that cannot be
}

func (a *timerAlarm) wait() bool {
	var rings [8]byte
	_, err := a.file.Read(rings[:])
	return err == nil
}

func (a *timerAlarm) close() { _ = a.file.Close() }
