//go:build !unix

package fake_test

import "time"

func cpuTime() time.Duration { return 0 }
