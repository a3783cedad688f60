package trace

import (
	"fmt"
	"strings"
)

// splitCSV splits one line at commas. A field in quotes may hold commas and
// doubled quotes, but no line end: no known trace has one, and a quote that is
// left open would otherwise swallow the rest of the file.
func splitCSV(line string) ([]string, error) {
	var fields []string
	for {
		if !strings.HasPrefix(line, `"`) {
			field, rest, more := strings.Cut(line, ",")
			if strings.Contains(field, `"`) {
				return fields, fmt.Errorf("%w: a quote inside the field %s", ErrSyntax, quote(field))
			}
			fields = append(fields, field)
			if !more {
				return fields, nil
			}
			line = rest
			continue
		}
		var field strings.Builder
		line = line[1:]
		for {
			part, rest, closed := strings.Cut(line, `"`)
			if !closed {
				return fields, fmt.Errorf("%w: a quoted field does not end on its line: %s", ErrSyntax, quote(line))
			}
			field.WriteString(part)
			if line = rest; !strings.HasPrefix(line, `"`) {
				break
			}
			field.WriteByte('"')
			line = line[1:]
		}
		fields = append(fields, field.String())
		if line == "" {
			return fields, nil
		}
		if line[0] != ',' {
			return fields, fmt.Errorf("%w: text follows a quoted field: %s", ErrSyntax, quote(line))
		}
		line = line[1:]
	}
}

// A table is a CSV file whose columns are found by name.
type table struct {
	lines  *lineReader
	at     map[string]int // column by name, in lower case
	width  int
	record []string
}

// openTable reads the header. Needed columns that are not there are an error;
// those nobody uses are returned.
func openTable(lines *lineReader, needed, optional []string) (t *table, unread []string, err error) {
	text, err := lines.next()
	if err != nil {
		return nil, nil, err
	}
	header, err := splitCSV(string(text))
	if err != nil {
		return nil, nil, err
	}
	t = &table{lines: lines, at: map[string]int{}, width: len(header)}
	for i, name := range lower(header) {
		if _, twice := t.at[name]; twice {
			return nil, nil, fmt.Errorf("%w: the header has %s twice", ErrColumn, quote(name))
		}
		t.at[name] = i
	}
	used := map[string]bool{}
	for _, name := range append(needed, optional...) {
		used[name] = true
	}
	for _, name := range needed {
		if _, ok := t.at[name]; !ok {
			return nil, nil, fmt.Errorf("%w: the header has no column %s: %s", ErrColumn, quote(name), quote(string(text)))
		}
	}
	for _, name := range header {
		if !used[strings.ToLower(strings.TrimSpace(name))] {
			unread = append(unread, name)
		}
	}
	return t, unread, nil
}

// next reads a row; io.EOF after the last.
func (t *table) next() error {
	text, err := t.lines.next()
	if err != nil {
		return err
	}
	if t.record, err = splitCSV(string(text)); err != nil {
		return err
	}
	if len(t.record) != t.width {
		err := fmt.Errorf("%w: the row has %d fields, the header %d", ErrColumn, len(t.record), t.width)
		if !t.lines.ended && len(t.record) < t.width {
			err = fmt.Errorf("%w: %w, and the file ends there without a line end", ErrTruncated, err)
		}
		return err
	}
	return nil
}

// field returns the row's value of a column, and whether there is one.
func (t *table) field(name string) (string, bool) {
	i, ok := t.at[name]
	if !ok {
		return "", false
	}
	return strings.TrimSpace(t.record[i]), true
}

// named says which column an error is about.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (t *table) tokens(name string) (int, error) {
	text, _ := t.field(name)
	n, err := parseTokens(text)
	return n, named(name, err)
}
