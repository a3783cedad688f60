package workload

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goevals/evals/dataset"
)

// LoadLengths reads the lengths of one column of a file: JSONL, plain or
// compressed with gzip or zstd, or plain CSV with a line of column names. Which
// of the two it is shows in its first byte. A CSV file of one column needs no
// line of names, and column may be "" then.
//
// Lengths are whole numbers from 1 to 2147483647, written in digits; in JSONL,
// as numbers. Anything else is an error with file and line, and so is a column
// that is not there: what is to become of a request that failed, which traces
// note as 0, is for a person to say.
func LoadLengths(path, column string) ([]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("workload: lengths: %w", err)
	}
	defer f.Close()
	return ReadLengths(f, path, column)
}

// ReadLengths is [LoadLengths] from a reader; name stands in errors.
func ReadLengths(r io.Reader, name, column string) ([]int, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("workload: lengths: %s: %w", name, err)
	}
	gzip, zstd := bytes.HasPrefix(head, []byte{0x1f, 0x8b}), bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	if gzip || zstd || bytes.HasPrefix(text, []byte("{")) {
		return lengthsJSON(in, name, column)
	}
	return lengthsCSV(in, name, column)
}

func lengthsJSON(r io.Reader, name, column string) ([]int, error) {
	if column == "" {
		return nil, &OptionError{Option: "column", Reason: "is missing: which key of " + name + " has the lengths?"}
	}
	var values []int
	_, err := dataset.Read(r, name, dataset.Decode(func(line json.RawMessage) (dataset.Item, error) {
		fields, err := split(line)
		if err != nil {
			return dataset.Item{}, err
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == column })
		if i < 0 {
			return dataset.Item{}, fmt.Errorf("%w: it has no key %q", ErrRow, column)
		}
		n, err := parseLength(string(fields[i].value))
		values = append(values, n)
		return dataset.Item{}, err
	}))
	if err != nil {
		return nil, err
	}
	return values, nil
}

func lengthsCSV(r io.Reader, name, column string) ([]int, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	var values []int
	index := -1
	for first := true; ; first = false {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("workload: lengths: %s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		if first {
			record[0] = strings.TrimPrefix(record[0], "\ufeff")
			var isHead bool
			if index, isHead, err = headCSV(record, column); err != nil {
				return nil, fmt.Errorf("workload: lengths: %s:%d: %w", name, line, err)
			}
			if isHead {
				continue
			}
		}
		n, err := parseLength(strings.TrimSpace(record[index]))
		if err != nil {
			return nil, fmt.Errorf("workload: lengths: %s:%d: %w", name, line, err)
		}
		values = append(values, n)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("workload: lengths: %s: %w: it has no lengths", name, ErrRow)
	}
	return values, nil
}

// headCSV finds the column in the first record, and says whether that record is
// the names.
func headCSV(record []string, column string) (index int, isHead bool, err error) {
	if column == "" {
		if len(record) != 1 {
			return 0, false, &OptionError{Option: "column", Reason: fmt.Sprintf("is missing: there are %d columns", len(record))}
		}
		_, err := parseLength(strings.TrimSpace(record[0]))
		return 0, err != nil && !isNumber(record[0]), nil
	}
	index = -1
	for i, name := range record {
		if strings.TrimSpace(name) != column {
			continue
		}
		if index >= 0 {
			return 0, false, fmt.Errorf("%w: two columns are named %q", ErrRow, column)
		}
		index = i
	}
	if index < 0 {
		return 0, false, fmt.Errorf("%w: no column is named %q; the first line is %s", ErrRow, column, cut([]byte(strings.Join(record, ","))))
	}
	return index, true, nil
}

// isNumber tells a bad length in the first line from a name.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

func parseLength(s string) (int, error) {
	// ParseUint takes digits only: no sign and, in base 10, no underscores.
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: the length is %s: %s", ErrRow, cut([]byte(s)), wantLength)
	}
	return int(n), nil
}
