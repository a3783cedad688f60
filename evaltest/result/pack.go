package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/klauspost/compress/gzip"
)

// pack writes the compressed form of src to dst, through a temporary file, and
// asks ready before that gets its name.
func pack(src, dst string, ready func() error) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	return replace(dst, func(w io.Writer) error {
		// The test waits for this: at the default level a run of items that do
		// nothing would spend a sixth of its time here.
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, in); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		return ready()
	})
}

// restore makes the plain file from the compressed one if that is all there
// is. If both are there, a crash came between two steps of Close or of restore
// itself: then the compressed one is a beginning of the plain one, and goes.
// If it is not, somebody put it there, and nothing is touched.
func restore(plain string) error {
	packed := plain + ".gz"
	in, err := os.Open(packed)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("result: append to journal: %w", err)
	}
	defer in.Close()
	// The lock on the compressed file keeps a second process from unpacking it
	// over the plain file that this one is already writing to.
	if err := lock(in); err != nil {
		return fmt.Errorf("%w: %s: wait for it to end", err, packed)
	}
	if !named(in, packed) {
		return nil // unpacked by another process just now
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("result: append to journal %s: %w: restore it from a copy", packed, err)
	}
	if old, err := os.Open(plain); err == nil {
		defer old.Close()
		if err := isBeginning(z, old); err != nil {
			return fmt.Errorf("result: append to journal: %s and %s are both there and differ (%w): move one of them away", plain, packed, err)
		}
	} else if err := replace(plain, func(w io.Writer) error {
		_, err := io.Copy(w, z)
		return err
	}); err != nil {
		return &WriteError{Path: plain, Op: "unpack", Err: err}
	}
	if runtime.GOOS == "windows" { // which removes no open file
		in.Close()
	}
	if err := os.Remove(packed); err != nil {
		return &WriteError{Path: packed, Op: "remove", Err: err}
	}
	return nil
}

// named reports whether path still names f.
func named(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// isBeginning reports why what short yields is not how long begins.
func isBeginning(short, long io.Reader) error {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := short.Read(a)
		if n > 0 {
			m, _ := io.ReadFull(long, b[:n])
			if m < n || !bytes.Equal(a[:n], b[:n]) {
				return fmt.Errorf("from about byte %d", at)
			}
			at += int64(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// replace writes a file so that its name holds either the old content or the
// whole new one, whenever the machine stops.
func replace(path string, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err = write(tmp); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// syncDir makes a rename outlive a power cut. Not all systems can, and the
// file is whole either way.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
