package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// The streams of random numbers: one an agent and field, so that a value
// depends on nothing that was drawn for another. The numbers are BatchBench's
// as far as it has them.
const (
	streamInput       = 0
	streamTurns       = 1
	streamOutput      = 2
	streamEnvironment = 3
	streamLatency     = 5

	streamInitialText uint64 = 0x1000000000000000
	streamResetText   uint64 = 0x2000000000000000 // + 2t, t the turn that is reset
	streamToolText    uint64 = 0x2000000000000001 // + 2t, t the turn before
	streamTag         uint64 = 0x3000000000000000
	streamReplyText   uint64 = 0x4000000000000000 // + t
)

// mix returns the seed of one stream of one agent.
func mix(root uint64, agent int, stream uint64) uint64 {
	return root + uint64(agent)*0x9E3779B97F4A7C15 + stream*0xD1B54A32D192ED03
}

// source returns the numbers that follow from a seed. Those of PCG are fixed by
// its definition, so a release of Go does not change them.
func source(seed, try uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15+try))
}

func stream(root uint64, agent int, id uint64) *rand.Rand { return source(mix(root, agent, id), 0) }

// blockSeed is the seed of a block's numbers: it depends on the block's own
// seed alone.
func blockSeed(seed string) uint64 {
	sum := sha256.Sum256([]byte(seed))
	return binary.LittleEndian.Uint64(sum[:8])
}
