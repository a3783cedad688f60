//go:build race

package evaltest_test

// raceDetector says that this binary has the race detector. What tests build
// and start has it not: those are skipped, since the plain run has run them.
const raceDetector = true
