package result

import "iter"

// A Reader reads a journal record by record. Not safe for concurrent use.
type Reader struct{}

// Open opens a journal, plain or compressed, and reads its header.
func Open(path string) (*Reader, error) { return &Reader{}, nil }

// Header returns the journal's first line.
func (r *Reader) Header() Header { return Header{} }

// All yields every record as it was written.
func (r *Reader) All() iter.Seq2[Record, error] { return func(func(Record, error) bool) {} }

// End returns the journal's last line, nil if it has none. Call it after All.
func (r *Reader) End() *End { return nil }

// Warnings returns what All found wrong and went on.
func (r *Reader) Warnings() []error { return nil }

// Close closes the file.
func (r *Reader) Close() error { return nil }

// A Journal is a journal read whole.
type Journal struct {
	Path   string
	Header Header
	// Records has one record a key, the latest, in the order in which the
	// keys first came.
	Records []Record
	// Superseded counts records that a later one of the same key replaced.
	Superseded int
	End        *End
	Warnings   []error
}

// Read reads a journal whole.
func Read(path string) (*Journal, error) { return &Journal{}, nil }

// Find returns the record of a key; nil if there is none.
func (j *Journal) Find(k Key) *Record { return nil }
