//go:build unix && !solaris && !illumos && !aix

package result

import (
	"errors"
	"os"
	"syscall"
)

// fullErrors are what a full disk or a used-up quota answers.
var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT}

// lock takes the file for this process until it is closed or the process
// ends, however it ends. A file system without locks is no reason not to run.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return nil
}
