package fake_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/record"
)

// A bench is a server in memory, a client of it and what it saw.
type bench struct {
	t      *testing.T
	server *fake.Server
	client *client.Client
	dial   func(context.Context, string, string) (net.Conn, error)
	start  time.Time
	stop   func()
	header http.Header // of each call

	mu   sync.Mutex
	seen []*fake.Seen // in the order of their ends
}

// serve starts s in memory. In a bubble stop has to be called before its end.
func serve(t *testing.T, s *fake.Server) *bench {
	t.Helper()
	p := fake.NewPipe()
	b := &bench{t: t, header: http.Header{"X-Test": {"yes"}}, server: s, dial: p.Dial, start: time.Now()}
	s.Saw = func(seen *fake.Seen) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen = append(b.seen, seen)
	}
	stop, err := s.Serve(p)
	require.NoError(t, err)
	b.client, err = client.New(client.Config{Host: "http://h", Model: "m", Concurrency: 8, Dial: p.Dial, IdleTimeout: time.Hour})
	require.NoError(t, err)
	b.stop = func() {
		b.client.Close()
		stop()
	}
	return b
}

// call makes a call of n tokens.
func (b *bench) call(ctx context.Context, p client.Prompt) *record.Request {
	if p.Text == "" && p.Messages == nil {
		p.Text = "the water"
	}
	body, err := b.client.Body(p)
	if err != nil {
		b.t.Error(err)
		return nil
	}
	rec := &record.Request{}
	b.client.Do(ctx, &client.Call{Start: b.start, Body: body, Whole: p.Whole, Header: b.header}, rec)
	return rec
}

// saw is what has been seen so far.
func (b *bench) saw() []*fake.Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

// times are when the fragments came, since the start.
func times(rec *record.Request) (at []time.Duration) {
	for _, f := range rec.Fragments {
		at = append(at, f.At)
	}
	return at
}
