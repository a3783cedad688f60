package result

import (
	"os"

	"github.com/go-json-experiment/json"
)

// AppendRecord is appendRecord.
var AppendRecord = appendRecord

// MarshalRecord is what AppendRecord must equal.
func MarshalRecord(rec *Record) ([]byte, error) { return json.Marshal(rec, writing) }

// WriteTo makes the writer go on in another file.
func (w *Writer) WriteTo(f *os.File) { w.commits.file = f }
