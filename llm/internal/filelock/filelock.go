// Package filelock locks files between processes, with locks that end with the
// process however it ends.
//
// It is not for locking within a process by itself: two files opened on one
// path lock each other out, one file locked twice does not.
//
// To use it:
//
//  1. Open the file; keep it open while it is locked.
//  2. [Try] takes the lock or says that it is held; [Wait] waits a while.
//  3. [Unlock] it, or close the file.
package filelock

import (
	"errors"
	"os"
	"time"
)

// ErrHeld is returned if somebody else has the lock.
var ErrHeld = errors.New("the file is locked")

// Wait takes the lock, exclusively, as soon as it is free. A holder that was
// stopped by a signal or a debugger may keep it for good, so it returns
// [ErrHeld] when it has waited for about most.
//
// It blocks its thread and keeps the true time, in a bubble of
// testing/synctest too: whoever holds the lock may be another process, for
// which no bubble's clock stands still.
func Wait(f *os.File, most time.Duration) error {
	pause := 20 * time.Microsecond
	for waited := time.Duration(0); ; waited += pause {
		if err := Try(f); !errors.Is(err, ErrHeld) || waited >= most {
			return err
		}
		pause = min(2*pause, 2*time.Millisecond)
		sleep(pause)
	}
}
