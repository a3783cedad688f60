//go:build !race

package evaltest_test

const raceDetector = false
