//go:build !windows

package evaltest

const ttyPath = "/dev/tty"
