package metric

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the result as indented JSON: every number in full
// precision, null where it is absent, its unit in its name, and the formulas.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("metric: writing the result as JSON: %w", err)
	}
	return nil
}
