package client

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/llm/wire"
)

// Limits are what this process can do at most, to be shown beside what it was
// asked to do.
type Limits struct {
	// Concurrency is Config's.
	Concurrency int `json:"concurrency"`
	// IdleConnections is how many unused connections are kept, and IdleTimeout
	// for how long.
	IdleConnections int           `json:"idle_connections"`
	IdleTimeout     time.Duration `json:"idle_timeout_ns"`
	// Descriptors is how many files and sockets this process may have open;
	// 0 if the system does not tell.
	Descriptors uint64 `json:"descriptors,omitempty"`
	// Ports is how many connections to one address can be open at once, since
	// each needs a local port; 0 if that is not known. It is read on Linux.
	Ports int `json:"ports,omitempty"`
	// ReadBuffer and MaxEvent are Config's, in bytes.
	ReadBuffer int `json:"read_buffer_bytes"`
	MaxEvent   int `json:"max_event_bytes"`
	// Protocol is HTTP/1.1 or HTTP/2, as asked for.
	Protocol string `json:"protocol"`
	// Proxy is the proxy of the environment that calls go through, without a
	// password; "" if none does.
	Proxy string `json:"proxy,omitempty"`
}

// Limits returns the limits of this client in this process.
func (c *Client) Limits() Limits {
	l := Limits{
		Concurrency: c.cfg.Concurrency, IdleConnections: c.transport.MaxIdleConnsPerHost, IdleTimeout: c.transport.IdleConnTimeout,
		Ports: localPorts(), ReadBuffer: c.cfg.ReadBuffer, MaxEvent: c.cfg.MaxEvent, Protocol: "HTTP/1.1", Proxy: c.proxy,
	}
	if soft, ok := wire.Descriptors(); ok {
		l.Descriptors = soft
	}
	if c.cfg.HTTP2 {
		l.Protocol = "HTTP/2"
	}
	return l
}

// Check returns what of these limits may show in a measurement, one error each;
// nil if nothing does. That there are too few descriptors, [New] refuses.
func (l Limits) Check() (warnings []error) {
	if l.Proxy != "" {
		warnings = append(warnings, fmt.Errorf("client: calls go through the proxy %s: its time counts as the server's; unset HTTP_PROXY and HTTPS_PROXY to go without", l.Proxy))
	}
	if l.Protocol == "HTTP/2" {
		return append(warnings, fmt.Errorf("client: over HTTP/2 calls share connections, and wait for each other's packets"))
	}
	if l.Ports > 0 && l.Concurrency > l.Ports {
		warnings = append(warnings, fmt.Errorf("client: %d calls in flight need as many local ports, and this machine has %d: widen net.ipv4.ip_local_port_range, or run fewer at once", l.Concurrency, l.Ports))
	}
	return warnings
}

// localPorts is how many ports the system gives to outgoing connections.
func localPorts() int {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0
	}
	return portRange(string(b))
}

func portRange(s string) int {
	f := strings.Fields(s)
	if len(f) != 2 {
		return 0
	}
	low, err := strconv.Atoi(f[0])
	high, err2 := strconv.Atoi(f[1])
	if err != nil || err2 != nil || low < 0 || high < low || high > 65535 {
		return 0
	}
	return high - low + 1
}
