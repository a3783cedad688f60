package filelock

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// far is the one byte that is locked: Windows' locks are of bytes and bind
// readers too, so it lies where no file ever gets to.
func far() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// Try takes the lock, exclusively, or returns [ErrHeld].
func Try(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}

// Unlock gives the lock back.
func Unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, far())
}

// Remove closes first: an open file cannot be removed.
func Remove(f *os.File, path string) error {
	return errors.Join(f.Close(), os.Remove(path))
}

func sleep(d time.Duration) {
	windows.SleepEx(uint32((d+time.Millisecond-1)/time.Millisecond), false)
}
