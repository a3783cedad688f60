package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/goevals/evals/evaltest/load/workload"
)

// stream returns the random numbers of one field of one agent, so that a value
// depends on nothing that was drawn for another.
func stream(root uint64, agent int, id workload.Stream) *rand.Rand {
	return workload.Rand(root, uint64(agent), id)
}

// blockSource returns the numbers of a block's text. They depend on the block's
// own seed alone, and on which try at it this is. PCG's are fixed by its
// definition, so a release of Go does not change them.
func blockSource(seed string, try uint64) *rand.Rand {
	return rand.New(rand.NewPCG(blockSeed(seed), 0x9E3779B97F4A7C15+try))
}

// blockSeed is what BatchBench makes of a block's seed.
func blockSeed(seed string) uint64 {
	sum := sha256.Sum256([]byte(seed))
	return binary.LittleEndian.Uint64(sum[:8])
}
