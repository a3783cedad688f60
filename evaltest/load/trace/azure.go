package trace

import "io"

func readAzure(s *source, emit func(raw) bool) error {
	return s.csvRows([]string{"timestamp", "contexttokens", "generatedtokens"}, nil, emit, func(t *table, r *raw) error {
		text, _ := t.field("timestamp")
		at, zone, err := parseDate(text)
		if err != nil {
			return named("TIMESTAMP", err)
		}
		if zone {
			s.zoned++
		} else {
			s.local++
		}
		r.Timed, r.abs = true, at
		if r.Input, err = t.tokens("contexttokens"); err != nil {
			return err
		}
		r.Output, err = t.tokens("generatedtokens")
		return err
	})
}

// csvRows reads a table row by row.
func (s *source) csvRows(needed, optional []string, emit func(raw) bool, parse func(*table, *raw) error) error {
	lines := s.lines()
	t, unread, err := openTable(lines, needed, optional)
	if err != nil {
		return s.fail(lines.n, err)
	}
	for _, name := range unread {
		s.unread.add(name)
	}
	for {
		err := t.next()
		if err == io.EOF {
			return nil
		}
		r := raw{Row: Row{Line: lines.n}}
		if err == nil {
			err = parse(t, &r)
		}
		if err != nil {
			return s.fail(lines.n, err)
		}
		if !emit(r) {
			return nil
		}
	}
}
