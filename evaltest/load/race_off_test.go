//go:build !race

package load_test

const raceDetector = false
