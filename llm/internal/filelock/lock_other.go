//go:build !(darwin || linux || freebsd || netbsd || openbsd || dragonfly || windows)

package filelock

import (
	"errors"
	"os"
	"time"
)

// Try returns errors.ErrUnsupported: there is no lock here that ends with the
// process.
func Try(*os.File) error { return errors.ErrUnsupported }

// Unlock does nothing.
func Unlock(*os.File) error { return nil }

// Remove removes the file at path, which is f, and closes f.
func Remove(f *os.File, path string) error {
	return errors.Join(os.Remove(path), f.Close())
}

func sleep(time.Duration) {}
