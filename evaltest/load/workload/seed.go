package workload

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// A Stream names what a sequence of random numbers is for. Each agent (or
// request) has its own sequence for each stream, so that neither the order in
// which things are drawn nor a new field changes the others.
type Stream uint64

// Streams. Numbers below 6, InitialText, [ResetText] and [EnvironmentText] are
// BatchBench's. A number is never given to anything else: that would change
// the bytes that a seed gives.
const (
	InputLength       Stream = 0
	Invocations       Stream = 1
	OutputLength      Stream = 2
	EnvironmentLength Stream = 3
	// 4 was one stream for all text in BatchBench 0.7. It made text depend on
	// the order of work and is not used.
	ToolLatency Stream = 5
	GroupChoice Stream = 6  // which shared prefix a request has
	SharedSalt  Stream = 7  // first tokens of a shared prefix; its root is the salt
	SharedText  Stream = 8  // the rest of a shared prefix
	Arrivals    Stream = 9  // when requests are due
	ThinkTime   Stream = 10 // of a user of a closed loop
	UserTag     Stream = 11 // names of users in requests
	OwnSalt     Stream = 12 // first tokens of a prompt without a shared prefix; its root is the salt

	InitialText Stream = 0x1000000000000000 // a prompt, or the first of a session
)

// ResetText is the stream of the text that begins a conversation anew before a
// turn, counted from 0.
func ResetText(turn int) Stream { return 0x2000000000000000 + 2*Stream(turn) }

// EnvironmentText is the stream of the reply of the environment after a turn,
// counted from 0.
func EnvironmentText(turn int) Stream { return 0x2000000000000001 + 2*Stream(turn) }

// ReplyText is the stream of a reply that stands in for the model's own after a
// turn, counted from 0.
func ReplyText(turn int) Stream { return 0x4000000000000000 + Stream(turn) }

// Mix returns the number that stands for one stream of one agent:
//
//	root + agent·0x9E3779B97F4A7C15 + stream·0xD1B54A32D192ED03 (mod 2⁶⁴)
//
// as BatchBench does. It is no root for another Mix or Rand: the streams of two
// such roots are the same ones, moved by one.
func Mix(root, agent uint64, s Stream) uint64 {
	return root + agent*goldenRatio + uint64(s)*0xD1B54A32D192ED03
}

const goldenRatio = 0x9E3779B97F4A7C15

// Rand returns the random numbers of one stream of one agent, from the
// beginning: a PCG seeded with the next two outputs of SplitMix64 in state
// [Mix]. The same arguments give the same numbers in every release. The result
// is for one goroutine.
//
// Mix is not the seed itself: neighbouring agents differ by a constant there,
// and of many streams only the first number is used, so that all would rest on
// what PCG makes of such seeds in one step. It is not the generator of BatchBench
// (ChaCha12): lengths are equally distributed, but not the same ones.
func Rand(root, agent uint64, s Stream) *rand.Rand {
	m := Mix(root, agent, s) + goldenRatio
	return rand.New(rand.NewPCG(splitMix(m), splitMix(m+goldenRatio)))
}

// splitMix is the output function of SplitMix64.
func splitMix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// NewSeed returns a number from the operating system's random source; never 0,
// which stands for "none" in options. It has 53 bits, so that it is still the same
// where JSON's numbers are read as floats.
func NewSeed() uint64 {
	for {
		var b [8]byte
		_, _ = crand.Read(b[:]) // never fails: it crashes the program instead
		if n := binary.LittleEndian.Uint64(b[:]) >> 11; n != 0 {
			return n
		}
	}
}
