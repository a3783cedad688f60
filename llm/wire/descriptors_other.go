//go:build !unix

package wire

func descriptors() (uint64, bool) { return 0, false }
