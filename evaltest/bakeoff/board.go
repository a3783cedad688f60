package bakeoff

import (
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// Samples is how many items a summary shows with all their answers.
const Samples = 5

// A Board gathers what benchmarks come to, and writes it all again each time,
// so that the files are there whatever stops the process. Several passes of a
// contestant, as -count makes, are all kept. Make one with NewBoard. Safe for
// concurrent use.
type Board struct {
	mu         sync.Mutex
	summary    Summary
	throughput Throughput
	overheads  []float64
	raced      map[string]*Race
	rated      map[string]*Race
}

// NewBoard makes a board of comparisons that were made so. Models, caps and
// prices are added with the contestants.
func NewBoard(m Methodology) *Board {
	return &Board{
		summary: Summary{Methodology: m}, throughput: Throughput{Methodology: m}, // the maps are shared
		raced: map[string]*Race{}, rated: map[string]*Race{},
	}
}

// Dir is where a board's files lie: a folder beside those of the tests'
// journals, of which one is given; "" for none.
func Dir(journal string) string {
	if journal == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(journal)), "bakeoff")
}

// ErrNoJournal is returned where there is nowhere to write to, because a
// benchmark kept no journal.
var ErrNoJournal = errors.New("bakeoff: the benchmark kept no journal (it is Offline, or replays a cassette), so there is no place for its files")

// SetDataset says what was asked, for the methodology.
func (b *Board) SetDataset(ds *dataset.Dataset) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := Data{Name: ds.Name(), Items: ds.Len(), SHA256: ds.SHA256()}
	b.summary.Methodology.Dataset, b.throughput.Methodology.Dataset = d, d
}

// AddRace adds a race to summary.json and returns the file's folder.
func (b *Board) AddRace(c Contestant, r *Race) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.summary.Config.RaceItems = r.Items
	b.summary.Race = b.summary.Race[:0]
	for _, race := range gather(b.raced, c, r) {
		b.summary.Race = append(b.summary.Race, race.Row())
	}
	return b.write(c, r.Journal)
}

// AddThroughput adds a race to throughput.json and returns the file's folder.
func (b *Board) AddThroughput(c Contestant, r *Race) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.throughput.Config.ThroughputItems = r.Items
	b.throughput.Rows = b.throughput.Rows[:0]
	for _, race := range gather(b.rated, c, r) {
		b.throughput.Rows = append(b.throughput.Rows, race.Throughput())
	}
	return b.write(c, r.Journal)
}

// AddOverhead takes note of what this library itself takes for an item, in
// nanoseconds; it is written with the next throughput.
func (b *Board) AddOverhead(ns float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.overheads = append(b.overheads, ns)
	b.throughput.Overhead = median(b.overheads)
}

// AddRun adds a whole run to summary.json, writes its answers to the
// contestant's results file, and returns the row. attempts is the most that an
// item got, journal the path of the run's.
func (b *Board) AddRun(c Contestant, attempts int, s *report.Stats, journal string, records iter.Seq2[result.Record, error]) (Row, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if journal == "" {
		return Row{}, ErrNoJournal
	}
	row, err := NewRow(c, s, records)
	if err != nil {
		return Row{}, err
	}
	for _, r := range b.summary.Bakeoff {
		if r.Provider == c.Name {
			row.Pass++
		}
	}
	b.summary.Bakeoff = append(b.summary.Bakeoff, row)
	b.summary.Config.BakeoffItems, b.summary.Config.Attempts = s.Total, attempts
	if b.summary.Samples, err = AddSamples(b.summary.Samples, Samples, c, records); err != nil {
		return row, err
	}
	if _, err := WriteItems(Dir(journal), c, records); err != nil {
		return row, err
	}
	_, err = b.write(c, journal)
	return row, err
}

// gather adds a race to those of the same contestant, and returns all in the
// order of their names.
func gather(races map[string]*Race, c Contestant, r *Race) []*Race {
	if old := races[c.Name]; old != nil {
		old.Add(r)
	} else {
		r.Provider = c.Name
		races[c.Name] = r
	}
	var all []*Race
	for _, name := range slices.Sorted(maps.Keys(races)) {
		all = append(all, races[name])
	}
	return all
}

// write writes both files, as far as there is something in them, and returns
// their folder.
func (b *Board) write(c Contestant, journal string) (string, error) {
	dir := Dir(journal)
	if dir == "" {
		return "", ErrNoJournal
	}
	now := time.Now().UTC().Truncate(time.Second)
	b.summary.GeneratedAt, b.throughput.GeneratedAt = now, now
	m := b.summary.Methodology
	m.Models[c.Name], m.WorkerCaps[c.Name], m.Prices[c.Name] = c.Model, c.Workers, c.Price
	if len(b.summary.Race)+len(b.summary.Bakeoff) > 0 {
		if err := WriteJSON(filepath.Join(dir, "summary.json"), b.summary); err != nil {
			return dir, err
		}
	}
	if len(b.throughput.Rows) > 0 {
		return dir, WriteJSON(filepath.Join(dir, "throughput.json"), b.throughput)
	}
	return dir, nil
}
