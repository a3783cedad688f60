package result

import "github.com/go-json-experiment/json"

// AppendRecord is appendRecord.
var AppendRecord = appendRecord

// MarshalRecord is what AppendRecord must equal.
func MarshalRecord(rec *Record) ([]byte, error) { return json.Marshal(rec, writing) }
