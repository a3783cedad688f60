package bakeoff

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"time"
)

// A Summary is the file that says how a comparison was made and what it came
// to.
type Summary struct {
	GeneratedAt time.Time   `json:"generated_at"` // UTC
	Config      Config      `json:"config"`
	Methodology Methodology `json:"methodology"`
	Race        []RaceRow   `json:"wall_time_race"`
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
	Overhead float64         `json:"overhead_ns_per_item,omitempty"`
	Rows     []ThroughputRow `json:"rows"`
}

// Config is how much was asked.
type Config struct {
	RaceItems       int `json:"race_items,omitempty"`
	ThroughputItems int `json:"items,omitempty"`
	BakeoffItems    int `json:"bakeoff_items,omitempty"`
	Attempts        int `json:"attempts,omitempty"` // of an item in the bake-off
}

// A Methodology is what it takes to do the same again.
type Methodology struct {
	Version string `json:"package_version"` // of this module, as the build knows it
	Go      string `json:"go"`
	System  string `json:"system"` // GOOS/GOARCH
	CPUs    int    `json:"gomaxprocs"`
	// Processor is the processor's name, where the system tells it.
	Processor string `json:"processor,omitempty"`
	Dataset   Data   `json:"dataset"`
	// Models, WorkerCaps and Prices are by contestant.
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
	Name   string `json:"name"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256,omitempty"`
}

// A Price is in USD per million tokens, as of a day; empty ones are unknown.
type Price struct {
	Input       string `json:"input"`
	CachedInput string `json:"cached_input"`
	Output      string `json:"output"`
	AsOf        string `json:"as_of"`
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
