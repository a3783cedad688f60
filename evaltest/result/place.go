package result

import (
	"errors"
	"time"
)

// ErrNoJournal is wrapped by what Latest and LatestUnder return where there is
// no journal.
var ErrNoJournal = errors.New("result: no journal")

// DefaultDir returns the folder under which journals lie by default:
// goevals/journals in the user's cache folder.
func DefaultDir() (string, error) { return "", nil }

// Dir returns the folder of one test's journals under root.
func Dir(root, module, pkg, test string) string { return "" }

// NewPath returns a path for a new journal in dir.
func NewPath(dir string, now time.Time) string { return "" }

// SetLatest makes path the latest journal of dir.
func SetLatest(dir, path string) error { return nil }

// Latest returns the latest journal of dir.
func Latest(dir string) (string, error) { return "", nil }

// LatestUnder returns the latest journal of all folders under root.
func LatestUnder(root string) (string, error) { return "", nil }
