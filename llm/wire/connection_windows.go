package wire

import "syscall"

// closedErrnos are what Winsock says where POSIX says ECONNRESET and EPIPE.
var closedErrnos = []syscall.Errno{syscall.WSAECONNRESET, syscall.WSAECONNABORTED}
