package dataset

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// NoColumn in a [Mapping] says that the rows have no such field.
	NoColumn = "-"
	// WholeRow in a [Mapping] stands for the row itself, as JSON text.
	WholeRow = "."
)

// A Mapping names the columns that the fields of an [Item] are read from. A
// name may be a path into nested objects: "doc.answer.text" (a column that is
// itself named so comes first). Empty means the default names; a row that has
// none of them, or two, is refused with an error that says how to map.
//
// A column that is named for one field is no longer a default for another, and
// one that is named but stands in no row is an error.
type Mapping struct {
	// ID: a text or a number. Default: id. Rows without one are numbered.
	ID string
	// Input: any value; what is not text stands as its JSON. Default: input,
	// question, prompt or problem. NoColumn leaves it empty, WholeRow takes
	// the row, as an application that decodes rows itself may want.
	Input string
	// Target: any value; what is not text stands as its JSON, digit for digit.
	// A list of texts, numbers and booleans is the Target and further Targets.
	// Default: target, answer, expected, expected_output or ideal. NoColumn
	// leaves it empty.
	Target string
	// Targets: a list of further accepted answers. Default: targets, if that
	// is a list. Without a Target, the first of them is the Target.
	Targets string
	// Choices: a list of texts, or an object with the keys A, B, C, …. Default:
	// choices, or options if that is a list.
	Choices string
	// Group: a text or number. Default: group, if it is one of these.
	Group string
	// TargetJSON keeps a list in Target whole, as one answer in JSON.
	TargetJSON bool
	// TargetIndex says that Target and Targets are numbers of right choices,
	// counted from 0; they are replaced by their letters.
	TargetIndex bool
}

// Fields names the columns that items are read from. It panics if a field other
// than Input and Target is WholeRow.
func Fields(m Mapping) Option {
	for f, name := range map[field]string{fieldID: m.ID, fieldTargets: m.Targets, fieldChoices: m.Choices, fieldGroup: m.Group} {
		if name == WholeRow {
			panic(fmt.Sprintf("dataset: Fields: Mapping.%s is %q, the whole row: only Input and Target can be", fieldNames[f], name))
		}
	}
	return func(c *config) {
		c.once("Fields", fmt.Sprintf("%+v", m))
		c.mapping = m
	}
}

// A field is a field of an Item that a column can be mapped to.
type field int

const (
	fieldID field = iota
	fieldInput
	fieldTarget
	fieldTargets
	fieldChoices
	fieldGroup
	numFields
)

var fieldNames = [numFields]string{"ID", "Input", "Target", "Targets", "Choices", "Group"}

var defaultColumns = [numFields][]string{
	fieldID:      {"id"},
	fieldInput:   {"input", "question", "prompt", "problem"},
	fieldTarget:  {"target", "answer", "expected", "expected_output", "ideal"},
	fieldTargets: {"targets"},
	fieldChoices: {"choices", "options"},
	fieldGroup:   {"group"},
}

// columns is a Mapping made ready for reading rows. It is shared by all items
// of a dataset and never changes.
type columns struct {
	mapping Mapping
	names   [numFields]string // as mapped; "" for the defaults
	heads   map[string][]ref  // by the top-level column
}

// A ref says that a column, or something inside it, is a field's value.
type ref struct {
	field field
	path  []string // below the top-level column
	name  string   // as written in the mapping
}

func newColumns(m Mapping) *columns {
	c := &columns{mapping: m, heads: map[string][]ref{}}
	c.names = [numFields]string{m.ID, m.Input, m.Target, m.Targets, m.Choices, m.Group}
	mapped := c.names[:]
	for f := range numFields {
		switch name := c.names[f]; name {
		case NoColumn, WholeRow:
		case "":
			for _, d := range defaultColumns[f] {
				if !slices.Contains(mapped, d) {
					c.heads[d] = append(c.heads[d], ref{field: f, name: d})
				}
			}
		default:
			c.heads[name] = append(c.heads[name], ref{field: f, name: name})
			if head, rest, nested := strings.Cut(name, "."); nested {
				c.heads[head] = append(c.heads[head], ref{field: f, path: strings.Split(rest, "."), name: name})
			}
		}
	}
	return c
}

// isDefault reports whether name is a column that f is read from by default.
func (c *columns) isDefault(f field, name string) bool {
	return c.names[f] == "" && slices.ContainsFunc(c.heads[name], func(r ref) bool { return r.field == f && len(r.path) == 0 })
}

// unmet names the first field that was mapped to a column which no row has. A
// row must have its Input and Target; of the others it would go unnoticed.
func (c *columns) unmet(met [numFields]bool) (field, bool) {
	for _, f := range []field{fieldID, fieldTargets, fieldChoices, fieldGroup} {
		if name := c.names[f]; name != "" && name != NoColumn && !met[f] {
			return f, true
		}
	}
	return 0, false
}

// want says which columns would have served as f.
func (c *columns) want(f field) string {
	if c.names[f] != "" {
		return quote(c.names[f])
	}
	names := defaultColumns[f]
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return names[0]
}
