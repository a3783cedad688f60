package agent

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/goevals/evals/evaltest/load/workload"
)

// The headers that name a session and a worker to a router.
const (
	HeaderRoutingKey   = "X-SMG-Routing-Key"
	HeaderTargetWorker = "X-SMG-Target-Worker"
)

// A Header is a header of one request.
type Header struct{ Name, Value string }

// Tags say how a trajectory is named to the server, in the field "user" and
// the header [HeaderRoutingKey].
type Tags struct {
	// Disabled sends neither, whatever Prefix is.
	Disabled bool
	// Prefix gives tags <prefix>-<agent>. Without one a tag is a UUID of
	// version 4 that follows from the seed, so that a run is routed alike when
	// it is repeated. At most 200 visible ASCII characters.
	Prefix string
}

func (t Tags) check() error {
	if len(t.Prefix) > 200 {
		return problemf(ErrConfig, "the user prefix has %d bytes; at most 200", len(t.Prefix))
	}
	for i := range len(t.Prefix) {
		if c := t.Prefix[i]; c <= ' ' || c > '~' {
			return problemf(ErrConfig, "the user prefix %q cannot stand in a header; use visible ASCII characters", t.Prefix)
		}
	}
	return nil
}

func (t Tags) of(root uint64, agent int) string {
	switch {
	case t.Disabled:
		return ""
	case t.Prefix != "":
		return t.Prefix + "-" + strconv.Itoa(agent)
	}
	r := stream(root, agent, workload.UserTag)
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], r.Uint64())
	binary.BigEndian.PutUint64(u[8:], r.Uint64())
	u[6] = u[6]&0x0f | 0x40 // version 4
	u[8] = u[8]&0x3f | 0x80 // variant of RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// routing returns the headers of a trajectory in a slot. They stay the same
// for all its turns.
func routing(tag string, slot, ranks int) (h []Header) {
	if tag != "" {
		h = append(h, Header{HeaderRoutingKey, tag})
	}
	if ranks > 0 {
		h = append(h, Header{HeaderTargetWorker, strconv.Itoa(slot % ranks)})
	}
	return h
}
