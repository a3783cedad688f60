//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package cassette

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes an exclusive lock that ends with the process.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

func removeLocked(f *os.File, path string) error {
	return errors.Join(os.Remove(path), f.Close())
}
