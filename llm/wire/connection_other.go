//go:build !windows

package wire

import "syscall"

var closedErrnos []syscall.Errno
