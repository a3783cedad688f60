package result

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// fullErrors are what a full disk or a used-up quota answers.
var fullErrors = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// lock takes the file for this process until it is closed or the process
// ends, however it ends. A file system without locks is no reason not to run.
//
// Windows' locks are of bytes and bind readers too, so the one that is locked
// lies where no journal ever gets to: a running journal can still be read.
func lock(f *os.File) error {
	far := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrInUse
	}
	return nil
}
