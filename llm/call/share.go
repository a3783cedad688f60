package call

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/goevals/evals/llm/internal/filelock"
)

// ErrShare is wrapped where the file that shares limits with other processes
// cannot be used ([Limits.Share]). Going on without it would exceed them.
var ErrShare = errors.New("call: the limits cannot be shared")

const (
	// shareLook is how often those who wait look for what other processes did.
	shareLook = 500 * time.Millisecond
	// shareCheck is how often the file is looked for where it was: somebody
	// may have emptied the cache folder.
	shareCheck = time.Second
	// shareHeld bounds the wait for the lock, which others hold for some 20 µs
	// at a time. Who has waited so long in vain does not wait again for as long.
	shareHeld = 5 * time.Second
	// shareGrain is how fine the last minute's window is in the file.
	shareGrain = time.Minute >> 11
	// shareDrift is how far a clock that is being set right may move within
	// a minute, against the one that this process measures with.
	shareDrift = 30 * time.Millisecond
)

// A share keeps RPM, TPM and the pause in a file that other processes use too.
// Every change is made under the file's lock, read before and written after it,
// in place: the lock ends with its process, and a write that was torn by that
// is told by its checksum. Nothing in the file is a key: its name is a hash, and
// a provider's words are masked.
type share struct {
	name string // "" shares with nobody
	id   string // of the file
	path string
	file *os.File
	held bool // between open and shut
	// dirty is set by changes that others must see.
	dirty   bool
	wall    time.Time // at open
	checked time.Duration
	buf     []byte
	most    time.Duration // that the lock is waited for
	// stuck is why the lock could not be had at stuckAt: calls that come soon
	// after must not each wait as long, one after the other.
	stuck   error
	stuckAt time.Duration
}

func (f *share) init(l Limits) {
	f.name, f.most = l.Share, shareHeld
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%q\n%d\n%d", shareMagic, os.Getuid(), l.Share, l.RPM, l.TPM))
	f.id = hex.EncodeToString(sum[:16])
}

// poll is when the first in line looks again.
func (f *share) poll(at, now time.Duration) time.Duration {
	if f.name == "" {
		return at
	}
	return min(at, now+shareLook)
}

// open takes the file's lock and takes in what others did. It returns the time,
// which may have passed while it waited. After an error nothing is held.
func (s *Scope) open(now time.Duration) (time.Duration, error) {
	f := &s.share
	if f.name == "" {
		return now, nil
	}
	f.dirty = false
	if f.stuck != nil && now-f.stuckAt < f.most {
		return now, f.failed(f.stuck)
	}
	err := f.lock(now)
	// One reading is both, this scope's time and the file's: what is read and
	// written lies where it lay, to the nanosecond.
	at := time.Now()
	now, f.wall = at.Sub(s.epoch), at.Round(0)
	if f.stuck = nil; errors.Is(err, filelock.ErrHeld) {
		f.stuck, f.stuckAt = err, now
	}
	if err != nil {
		return now, f.failed(err)
	}
	data, err := f.read()
	if err != nil {
		f.unlock()
		return now, f.failed(err)
	}
	s.load(data, now, f.wall)
	return now, nil
}

// shut writes what has changed and gives the lock back, if it is held.
func (s *Scope) shut(now time.Duration) error {
	f := &s.share
	if !f.held {
		return nil
	}
	defer f.unlock()
	if !f.dirty {
		return nil
	}
	f.buf = s.save(f.buf[:0], now, f.wall)
	if _, err := f.file.WriteAt(f.buf, 0); err != nil {
		return f.failed(err)
	}
	return nil
}

func (f *share) failed(err error) error {
	where := f.path
	if where == "" {
		where = "the user's cache folder"
	}
	return fmt.Errorf("%w (Limits.Share %q): %w; see that %s can be written, or leave Share empty to limit this process alone", ErrShare, f.name, err, where)
}

// lock opens the file, if it is not open or is no longer where it was, and
// locks it.
func (f *share) lock(now time.Duration) error {
	for range 10 {
		if err := f.find(); err != nil {
			return err
		}
		if err := filelock.Wait(f.file, f.most); err != nil {
			if errors.Is(err, filelock.ErrHeld) {
				err = fmt.Errorf("%w by another process for more than %v, which may have been stopped", err, f.most)
			}
			return fmt.Errorf("locking %s: %w", f.path, err)
		}
		f.held = true
		if f.checked != 0 && now-f.checked < shareCheck {
			return nil
		}
		here, err1 := f.file.Stat()
		there, err2 := os.Stat(f.path)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			f.checked = max(now, 1)
			return nil
		}
		f.unlock()
		f.file.Close()
		f.file = nil
	}
	return fmt.Errorf("%s comes and goes", f.path)
}

func (f *share) find() error {
	if f.file != nil {
		return nil
	}
	if f.path == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		f.path = filepath.Join(dir, "goevals", "limits", f.id)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.file = file
	return nil
}

func (f *share) unlock() {
	f.held = false
	if err := filelock.Unlock(f.file); err != nil { // closing gives it back, too
		f.file.Close()
		f.file = nil
	}
}

// read returns the whole file.
func (f *share) read() ([]byte, error) {
	if cap(f.buf) < shareMost {
		f.buf = make([]byte, shareMost)
	}
	n, err := f.file.ReadAt(f.buf[:shareMost], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return f.buf[:n], nil
}
