//go:build unix

package client_test

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
)

// TestChild does in a process of its own what would disturb the other tests.
func TestChild(t *testing.T) {
	switch os.Getenv("CLIENT_TEST_CHILD") {
	case "proxy":
		c, err := client.New(client.Config{Host: "http://somewhere.example", Concurrency: 1})
		require.NoError(t, err)
		fmt.Println(c.Limits().Proxy, c.Limits().Check())
	case "descriptors":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		c, err := client.New(client.Config{Host: "http://" + l.Addr().String(), Concurrency: 1})
		require.NoError(t, err)
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}))
		_, err = client.New(client.Config{Host: "http://h", Concurrency: 100})
		fmt.Println("New refuses:", err != nil)
		for {
			if _, err := os.Open(os.DevNull); err != nil {
				break
			}
		}
		var rec record.Request
		c.Do(t.Context(), &client.Call{Start: time.Now(), Body: hello}, &rec)
		fmt.Printf("class=%s %s\n", rec.Failure.Class, rec.Failure.Message)
	}
}
