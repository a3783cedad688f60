package bakeoff

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
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
// so that the files are there whatever stops the process. Its folder is its own:
// what an earlier process left stays. Several passes of a contestant, as -count
// makes, are all kept, each with a results file; samples are of the first. Make
// one with NewBoard. Safe for concurrent use.
type Board struct {
	mu         sync.Mutex
	how        func() Methodology // until the first Add
	dir        string
	summary    Summary
	throughput Throughput
	overheads  []float64
	raced      map[string]*Race
	rated      map[string]*Race
}

// NewBoard makes a board of comparisons. How they were made is asked once, when
// the first is added: only then is it known on how many processors it runs and
// who takes part. Models, caps and prices are added with the contestants.
func NewBoard(how func() Methodology) *Board {
	return &Board{
		how: how, raced: map[string]*Race{}, rated: map[string]*Race{},
		summary: Summary{Race: []RaceEntry{}, Bakeoff: []Row{}}, throughput: Throughput{Rows: []ThroughputEntry{}}, // [], not null
	}
}

// Dir is where the board's files lie: a folder of its own in "bakeoff" beside
// the journals' folders, named by the time of the first file in UTC; "" before.
// bakeoff/_latest holds the name of the last board's.
func (b *Board) Dir() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dir
}

// begin asks how it was done, if it is not known yet. b.mu is held.
func (b *Board) begin() {
	if b.how == nil {
		return
	}
	m := b.how()
	b.how = nil
	m.Models, m.WorkerCaps, m.Prices, m.Notes = grown(m.Models), grown(m.WorkerCaps), grown(m.Prices), slices.Clone(m.Notes)
	m.Dataset.File = portable(m.Dataset.File)
	d := b.summary.Methodology.Dataset
	b.summary.Methodology, b.throughput.Methodology = m, m // the maps are shared
	if d != (Data{}) {
		b.summary.Methodology.Dataset, b.throughput.Methodology.Dataset = d, d
	}
}

// grown is a map to add to that is not the caller's.
func grown[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// open makes the board's folder, beside that of a journal. b.mu is held.
func (b *Board) open(journal string) error {
	if journal == "" {
		return ErrNoJournal
	}
	if b.dir != "" {
		return nil
	}
	root := filepath.Join(filepath.Dir(filepath.Dir(journal)), "bakeoff")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("bakeoff: %w", err)
	}
	dir, err := os.MkdirTemp(root, time.Now().UTC().Format("20060102T150405")+"-")
	if err != nil {
		return fmt.Errorf("bakeoff: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // MkdirTemp's is for its owner alone
		return fmt.Errorf("bakeoff: %w", err)
	}
	b.dir = dir
	return replace(filepath.Join(root, "_latest"), func(w io.Writer) error {
		_, err := io.WriteString(w, filepath.Base(dir)+"\n")
		return err
	})
}

// ErrNoJournal is returned where there is nowhere to write to, because a
// benchmark kept no journal.
var ErrNoJournal = errors.New("bakeoff: the benchmark kept no journal (it is Offline, or replays a cassette), so there is no place for its files")

// SetDataset says what was asked, for the methodology.
func (b *Board) SetDataset(ds *dataset.Dataset) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := DataOf(ds)
	b.summary.Methodology.Dataset, b.throughput.Methodology.Dataset = d, d
}

// AddRace adds a race to summary.json.
func (b *Board) AddRace(c Contestant, r *Race) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.summary.Config.RaceItems = r.Items
	b.summary.Race = b.summary.Race[:0]
	for _, race := range gather(b.raced, c, r) {
		b.summary.Race = append(b.summary.Race, RaceEntry{RaceRow: race.Row(), ChunkSize: chunkSize(race)})
	}
	return b.write(c, r.Journal)
}

// AddThroughput adds a race to throughput.json.
func (b *Board) AddThroughput(c Contestant, r *Race) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.throughput.Config.ThroughputItems = r.Items
	b.throughput.Rows = b.throughput.Rows[:0]
	for _, race := range gather(b.rated, c, r) {
		b.throughput.Rows = append(b.throughput.Rows, ThroughputEntry{ThroughputRow: race.Throughput(), ChunkSize: chunkSize(race)})
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

// AddRun adds a whole run to summary.json, writes its answers to a results file
// of the contestant, and returns the row. attempts is the most that an item got,
// journal the path of the run's; without one the row is returned all the same,
// with ErrNoJournal.
func (b *Board) AddRun(c Contestant, attempts int, s *report.Stats, journal string, records iter.Seq2[result.Record, error]) (Row, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	row, err := NewRow(c, s, records)
	if err != nil {
		return Row{}, err
	}
	if row.Judge != nil {
		row.Judge.Model = cmp.Or(row.Judge.Model, b.summary.Methodology.Judge)
	}
	for _, r := range b.summary.Bakeoff {
		if r.Provider == c.Name {
			row.Pass++
		}
	}
	b.summary.Bakeoff = append(b.summary.Bakeoff, row)
	b.summary.Config.BakeoffItems, b.summary.Config.Attempts = s.Total, attempts
	if row.Pass == 0 {
		if b.summary.Samples, err = AddSamples(b.summary.Samples, Samples, c, records); err != nil {
			return row, err
		}
	}
	if err := b.open(journal); err != nil {
		return row, err
	}
	if _, err := WriteItems(b.dir, c, row.Pass, records); err != nil {
		return row, err
	}
	return row, b.write(c, journal)
}

// gather adds a race to those of the same contestant, and returns all in the
// order of their names.
func gather(races map[string]*Race, c Contestant, r *Race) []*Race {
	if old := races[c.Name]; old != nil {
		old.Add(r)
	} else {
		own := *r // the caller's stays as it is
		own.Provider, own.Passes = c.Name, slices.Clone(r.Passes)
		races[c.Name] = &own
	}
	var all []*Race
	for _, name := range slices.Sorted(maps.Keys(races)) {
		all = append(all, races[name])
	}
	return all
}

// chunkSize is how many items a chunk of the chunked leg had: as many as the
// race has workers. 0 if that leg did not run.
func chunkSize(r *Race) int {
	if len(r.Walls("chunked")) == 0 {
		return 0
	}
	return r.Workers
}

// write writes both files, as far as there is something in them. b.mu is held.
func (b *Board) write(c Contestant, journal string) error {
	if err := b.open(journal); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	b.summary.GeneratedAt, b.throughput.GeneratedAt = now, now
	m := b.summary.Methodology
	m.Models[c.Name], m.WorkerCaps[c.Name] = c.Model, c.Workers
	if c.Price != (Price{}) {
		m.Prices[c.Name] = c.Price
	}
	if len(b.summary.Race)+len(b.summary.Bakeoff) > 0 {
		if err := WriteJSON(filepath.Join(b.dir, "summary.json"), b.summary); err != nil {
			return err
		}
	}
	if len(b.throughput.Rows) > 0 {
		return WriteJSON(filepath.Join(b.dir, "throughput.json"), b.throughput)
	}
	return nil
}
