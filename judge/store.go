package judge

// A Store keeps a judge's verdicts by key, for [Cache]. Both methods must be
// safe for concurrent use.
type Store interface {
	// Load returns what was stored under key, or nil if nothing was.
	Load(key string) ([]byte, error)
	// Store keeps data under key, whole or not at all, and replaces what stood
	// there.
	Store(key string, data []byte) error
}
