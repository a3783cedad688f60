//go:build unix

package client_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// TestNoDescriptors: the process runs out of sockets in the middle of a run.
func TestNoDescriptors(t *testing.T) {
	out := child(t, "descriptors")
	assert.Contains(t, out, "class=connect")
	assert.Contains(t, out, "ulimit")
	assert.Contains(t, out, "New refuses: true")
}

// TestProxy: calls that go through a proxy say so, without its password.
func TestProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("the environment's proxy is read once a process: it runs in one of its own")
	}
	out := child(t, "proxy", "HTTP_PROXY=http://me:hunter2hunter2@proxy.example:3128")
	assert.Contains(t, out, "http://me:xxxxx@proxy.example:3128")
	assert.NotContains(t, out, "hunter2")
}

// child runs this test binary again as a process of its own.
func child(t *testing.T, what string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, "CLIENT_TEST_CHILD="+what)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
