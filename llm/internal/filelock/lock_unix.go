//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Try takes the lock, exclusively, or returns [ErrHeld].
func Try(f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// Unlock gives the lock back.
func Unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) { // the runtime's own signals
			return err
		}
	}
}

// Remove removes the file at path while f, which is that file, is still
// locked, and closes f.
func Remove(f *os.File, path string) error {
	return errors.Join(os.Remove(path), f.Close())
}

func sleep(d time.Duration) {
	left := unix.NsecToTimeval(int64(d))
	_, _ = unix.Select(0, nil, nil, nil, &left) // a signal may end it early
}
