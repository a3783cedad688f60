package cassette

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// lockFile takes an exclusive lock that ends with the process. The locked
// byte lies far behind the file's end, since a lock on Windows also stops
// other readers.
func lockFile(f *os.File) error {
	const (
		failImmediately = 1
		exclusive       = 2
		lockViolation   = syscall.Errno(33)
	)
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok != 0 {
		return nil
	}
	if errors.Is(err, lockViolation) {
		return errHeld
	}
	return err
}

// removeLocked closes first: an open file cannot be removed.
func removeLocked(f *os.File, path string) error {
	return errors.Join(f.Close(), os.Remove(path))
}
