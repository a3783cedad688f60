package bakeoff

import (
	"cmp"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goevals/evals/dataset"
)

// A Summary is the file that says how a comparison was made and what it came
// to.
type Summary struct {
	GeneratedAt time.Time   `json:"generated_at"` // UTC
	Config      Config      `json:"config"`
	Methodology Methodology `json:"methodology"`
	Race        []RaceEntry `json:"wall_time_race"`
	Bakeoff     []Row       `json:"bakeoff"`
	Samples     []Sample    `json:"samples,omitempty"`
}

// A Throughput is the file of throughput races.
type Throughput struct {
	GeneratedAt time.Time   `json:"generated_at"` // UTC
	Config      Config      `json:"config"`
	Methodology Methodology `json:"methodology"`
	// Overhead is the time of one core that this library takes for an item,
	// where nothing else does: the median, in nanoseconds; 0 if not measured.
	Overhead float64           `json:"overhead_ns_per_item,omitempty"`
	Rows     []ThroughputEntry `json:"rows"`
}

// A RaceEntry is a race as a summary has it, with the size of its chunks.
type RaceEntry struct {
	RaceRow
	// ChunkSize is how many items a chunk of the chunked leg had, which is the
	// worker cap and so differs by contestant; 0 if that leg did not run.
	ChunkSize int `json:"gather_chunk_size,omitempty"`
}

// A ThroughputEntry is a race as a throughput file has it, with the size of its
// chunks.
type ThroughputEntry struct {
	ThroughputRow
	ChunkSize int `json:"gather_chunk_size,omitempty"` // as a RaceEntry's
}

// Config is how much was asked, of every contestant; 0 is what did not run. The
// size of a chunk is with the races, for it differs by contestant.
type Config struct {
	RaceItems       int `json:"race_items,omitempty"`    // items of a lap in summary.json
	ThroughputItems int `json:"items,omitempty"`         // items of a lap in throughput.json
	BakeoffItems    int `json:"bakeoff_items,omitempty"` // items of a whole run
	// Attempts is the most that an item of a whole run got.
	Attempts int `json:"attempts,omitempty"`
}

// A Methodology is what it takes to do the same again.
type Methodology struct {
	Version string `json:"package_version"` // of this module, as the build knows it
	Go      string `json:"go"`              // the toolchain's version
	System  string `json:"system"`          // GOOS/GOARCH
	CPUs    int    `json:"gomaxprocs"`
	// Processor is the processor's name, where the system tells it.
	Processor string `json:"processor,omitempty"`
	Dataset   Data   `json:"dataset"`
	// Models, WorkerCaps and Prices are by contestant. One whose prices are not
	// known is not in Prices.
	Models     map[string]string `json:"models"`
	WorkerCaps map[string]int    `json:"worker_caps"`
	Prices     map[string]Price  `json:"pricing"`
	Judge      string            `json:"judge,omitempty"` // its model
	// Seed is what fakes drew from; 0 if none took part.
	Seed  uint64   `json:"seed,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Data is the dataset that was asked.
type Data struct {
	Name string `json:"name"` // of the dataset
	// File is the path that it was loaded from, as it was given; of an absolute
	// one only the file's name, for the folders are those of one machine.
	// Empty if it was made in memory.
	File   string `json:"file"`
	Items  int    `json:"items"`            // in it, selected ones only
	SHA256 string `json:"sha256,omitempty"` // of the file, in hex; empty as File is
}

// DataOf is what a file says of a dataset.
func DataOf(ds *dataset.Dataset) Data {
	return Data{Name: ds.Name(), File: portable(ds.Path()), Items: ds.Len(), SHA256: ds.SHA256()}
}

// portable is a path without what only one machine has. A path that another
// system takes for absolute is one, too.
func portable(path string) string {
	slashed := strings.ReplaceAll(path, `\`, "/")
	if filepath.IsAbs(path) || strings.HasPrefix(slashed, "/") || len(slashed) > 1 && slashed[1] == ':' {
		return slashed[strings.LastIndexByte(slashed, '/')+1:]
	}
	return path
}

// A Price is in USD per million tokens, as of a day, such as "2026-11-09". What
// is not known is empty, and left out of files.
type Price struct {
	Input       string `json:"input,omitempty"`
	CachedInput string `json:"cached_input,omitempty"`
	Output      string `json:"output,omitempty"`
	AsOf        string `json:"as_of,omitempty"`
}

// NewMethodology fills in what the process knows of itself.
func NewMethodology() Methodology {
	m := Methodology{
		Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Processor: processor(),
		Models: map[string]string{}, WorkerCaps: map[string]int{}, Prices: map[string]Price{},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.Version = cmp.Or(info.Main.Version, m.Version)
		for _, dep := range info.Deps {
			if dep.Path == "github.com/goevals/evals" {
				m.Version = dep.Version
			}
		}
	}
	return m
}
