package call

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/filelock"
)

// ownCache gives the test a cache folder of its own and returns where the
// limits lie in it.
func ownCache(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	dir, err := os.UserCacheDir()
	require.NoError(t, err)
	return filepath.Join(dir, "goevals", "limits")
}

// TestShare: two scopes, as two processes have them, are one.
func TestShare(t *testing.T) {
	ownCache(t)
	limits := Limits{RPM: 60, TPM: 60_000, Share: "acme"}
	synctest.Test(t, func(t *testing.T) {
		a, b, start := NewScope(limits), NewScope(limits), time.Now()
		log := &starts{begun: start}
		var wg sync.WaitGroup
		for i := range 130 {
			wg.Go(func() {
				g, _, err := []*Scope{a, b}[i%2].admit(t.Context(), 10)
				if assert.NoError(t, err) {
					log.now()
					g.end(good(5, 5))
				}
			})
		}
		wg.Wait()
		for i, d := range log.at {
			assert.Equal(t, time.Duration(i)*time.Second, d)
		}

		// Tokens that one gives back are the other's, which looks for them.
		time.Sleep(time.Hour)
		g := mustAdmit(t, a, 60_000)
		time.AfterFunc(9900*time.Millisecond, func() { g.end(good(1, 1)) })
		begun := time.Now()
		mustAdmit(t, b, 60_000-2).end(outcome{})
		assert.Equal(t, 10*time.Second, time.Since(begun), "within half a second")

		// So is what never was.
		time.Sleep(time.Hour)
		begun = time.Now()
		mustAdmit(t, a, 60_000).end(outcome{})
		mustAdmit(t, b, 60_000).end(outcome{})
		assert.Zero(t, time.Since(begun))
	})
}

func TestSharePause(t *testing.T) {
	ownCache(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := NewScope(Limits{Share: "acme"}), NewScope(Limits{Share: "acme"})
		apart, other := NewScope(Limits{Share: "emca"}), NewScope(Limits{Share: "acme", RPM: 600})
		begun := time.Now()
		late := mustAdmit(t, b, 0)
		inB := make(chan time.Duration)
		full := NewScope(Limits{Share: "acme", Concurrency: 1})
		slot := mustAdmit(t, full, 0)
		go func() { // in line when the pause begins elsewhere
			g, waits, err := full.admit(t.Context(), 0)
			assert.NoError(t, err)
			g.end(outcome{})
			inB <- waits.Total()
		}()
		synctest.Wait()
		failed := make(chan time.Duration)
		go func() { // and has no time for it
			ctx, cancel := context.WithTimeout(t.Context(), 1900*time.Millisecond)
			defer cancel()
			_, _, err := full.admit(ctx, 0)
			assert.ErrorIs(t, err, ErrNoTime)
			failed <- time.Since(begun)
		}()
		synctest.Wait()
		mustAdmit(t, a, 0).end(bad(busy(nil)))
		assert.Equal(t, shareLook, <-failed, "when it next looks")
		assert.Positive(t, full.Stats().Pace)
		slot.end(good(1, 1))
		g, waits, err := b.admit(t.Context(), 0)
		require.NoError(t, err)
		assert.Equal(t, Waits{Pause: 1500 * time.Millisecond}, waits, "from when it came")
		assert.Equal(t, 2*time.Second, <-inB)
		for _, s := range []*Scope{apart, other} {
			mustAdmit(t, s, 0).end(outcome{})
		}
		assert.Equal(t, 2*time.Second, time.Since(begun), "another name or limit is another quota")
		assert.Equal(t, 9*time.Second, late.end(bad(busy(seconds(9)))), "a report of before that pause")

		// The next one in a row is twice as long, whoever meets it.
		g.end(bad(busy(nil)))
		begun = time.Now()
		mustAdmit(t, a, 0).end(good(1, 1))
		assert.Equal(t, 4*time.Second, time.Since(begun))
		time.Sleep(time.Minute)
		mustAdmit(t, b, 0).end(bad(busy(nil)))
		begun = time.Now()
		mustAdmit(t, a, 0).end(good(1, 1))
		assert.Equal(t, 2*time.Second, time.Since(begun), "until one of them succeeds")
	})
}

// TestShareWords: what the provider said reaches those in other processes, and
// no key does.
func TestShareWords(t *testing.T) {
	dir := ownCache(t)
	synctest.Test(t, func(t *testing.T) {
		const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
		a, b, c := NewScope(Limits{Share: "acme"}), NewScope(Limits{Share: "acme"}), NewScope(Limits{Share: "acme"})
		mustAdmit(t, a, 0).end(bad(&llm.Error{Kind: llm.KindRateLimit, Provider: "openai", Status: 429, RetryAfter: seconds(600), Message: "too much for " + key}))
		time.Sleep(time.Second)
		for _, s := range []*Scope{b, c, b} {
			_, _, err := s.admit(t.Context(), 0)
			assert.ErrorIs(t, err, ErrTooLong)
			assert.EqualError(t, err, "call: the provider asks to wait too long: the server asked for 10m0s, 9m59s are left, and the most is 2m0s (call.Limits.MaxWait): "+
				"rate_limit: another process met: openai: rate_limit (HTTP 429): too much for [masked]")
			assert.Equal(t, llm.KindRateLimit, llm.KindOf(err))
		}
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
		assert.NotContains(t, files[0].Name(), "acme")
		data, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
		require.NoError(t, err)
		assert.NotContains(t, string(data), key)
		info, err := files[0].Info()
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
	})
}

// shared returns a scope and the path of its file after it has made one call.
func shared(t *testing.T, l Limits) (*Scope, string) {
	t.Helper()
	s := NewScope(l)
	mustAdmit(t, s, 100).end(outcome{sent: true})
	return s, s.share.path
}

// TestShareDamage: a file that is no record means empty buckets, not full ones.
func TestShareDamage(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		damage       func(data []byte) []byte
		first        time.Duration // until the first start after it
	}{
		{"none", "", func(d []byte) []byte { return d }, 0},
		{"empty", "as new", func([]byte) []byte { return nil }, 0},
		{"cut", "", func(d []byte) []byte { return d[:len(d)-1] }, 6 * time.Second},
		{"head only", "", func(d []byte) []byte { return d[:10] }, 6 * time.Second},
		{"zeros", "as after a power cut", func(d []byte) []byte { return make([]byte, len(d)) }, 6 * time.Second},
		{"one bit", "", func(d []byte) []byte { d[len(d)-3] ^= 1; return d }, 6 * time.Second},
		{"half of another", "a torn write", func(d []byte) []byte { return append(d[:len(d)/2], make([]byte, len(d)/2+1)...) }, 6 * time.Second},
		{"longer", "a longer record stood here", func(d []byte) []byte { return append(d, "rest"...) }, 0},
		{"text", "", func([]byte) []byte { return []byte("{}\n") }, 6 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ownCache(t)
			synctest.Test(t, func(t *testing.T) {
				limits := Limits{RPM: 60, TPM: 1000, Share: "x"}
				_, path := shared(t, limits)
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, tc.damage(data), 0o600))
				time.Sleep(time.Hour)
				s, begun := NewScope(limits), time.Now()
				mustAdmit(t, s, 100).end(outcome{sent: true})
				assert.Equal(t, tc.first, time.Since(begun).Round(lateness*2), tc.reason)
				mustAdmit(t, NewScope(limits), 100).end(outcome{sent: true})
				assert.Equal(t, tc.first+6*time.Second, time.Since(begun).Round(lateness*2), "and it is whole again")
			})
		})
	}
}

// TestShareClock: a clock that was set back counts as no time passed; last
// week's file is no limit.
func TestShareClock(t *testing.T) {
	limits := Limits{RPM: 60, Share: "x"}
	for _, tc := range []struct {
		name string
		wall time.Duration // after the file was written
		due  time.Duration // of the next start
	}{
		{"at once", 0, time.Second},
		{"half a second", 500 * time.Millisecond, 500 * time.Millisecond},
		{"last week", 7 * 24 * time.Hour, 0},
		{"set back an hour", -time.Hour, time.Second},
		{"set back to 1970", -50 * 365 * 24 * time.Hour, time.Second},
		{"set forward 200 years", 200 * 365 * 24 * time.Hour, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a, b Scope
			a.limits, b.limits = limits, limits
			wall := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
			a.begin()
			a.start(0, 5*time.Minute, 0, 0)
			b.begin()
			b.load(a.save(nil, 5*time.Minute, wall), time.Second, wall.Add(tc.wall))
			assert.Equal(t, tc.due, max(b.quotas.ready(time.Second, 0)-time.Second, 0))
		})
	}
}

// TestShareFails: without the file the limits would be exceeded, so no call is
// made; the error says which file, and what to do. It heals.
func TestShareFails(t *testing.T) {
	t.Run("no folder", func(t *testing.T) {
		dir := ownCache(t)
		require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o700))
		require.NoError(t, os.WriteFile(dir, nil, 0o600)) // in the way
		s := NewScope(Limits{RPM: 60, Share: "acme"})
		_, _, err := s.admit(t.Context(), 0)
		assert.ErrorIs(t, err, ErrShare)
		assert.ErrorContains(t, err, dir)
		assert.ErrorContains(t, err, `(Limits.Share "acme")`)
		assert.ErrorContains(t, err, "can be written, or leave Share empty to limit this process alone")
		require.NoError(t, os.Remove(dir))
		mustAdmit(t, s, 0).end(outcome{})
	})
	t.Run("no home", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("needs other variables")
		}
		t.Setenv("HOME", "")
		t.Setenv("XDG_CACHE_HOME", "")
		_, _, err := NewScope(Limits{Share: "acme"}).admit(t.Context(), 0)
		assert.ErrorIs(t, err, ErrShare)
		assert.ErrorContains(t, err, "the user's cache folder can be written")
	})
	t.Run("disk full", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("needs /dev/full")
		}
		dir := ownCache(t)
		s := NewScope(Limits{RPM: 60, Share: "acme", Concurrency: 1})
		g := mustAdmit(t, s, 0)
		require.NoError(t, os.Remove(s.share.path))
		require.NoError(t, os.Symlink("/dev/full", s.share.path))
		done := make(chan error)
		go func() { // in line when the disk gets full
			_, _, err := s.admit(t.Context(), 0)
			done <- err
		}()
		s.mu.Lock()
		s.share.file.Close()
		s.share.file, s.share.checked = nil, 0
		s.mu.Unlock()
		g.end(outcome{sent: true})
		for _, err := range []error{<-done, func() error { _, _, err := s.admit(t.Context(), 0); return err }()} {
			assert.ErrorIs(t, err, ErrShare)
			assert.ErrorContains(t, err, "no space left on device")
			assert.ErrorContains(t, err, dir)
		}
		assert.Zero(t, s.Stats().InFlight, "nothing has started")
		assert.Equal(t, int64(1), s.Stats().Starts)
	})
}

// TestShareStuck: a process that was stopped with the lock in its hands costs
// one wait, not one a call, and not the lines of those who end meanwhile.
func TestShareStuck(t *testing.T) {
	ownCache(t)
	limits := Limits{RPM: 600_000, Share: "x"}
	s := NewScope(limits)
	early := mustAdmit(t, s, 0)
	s.share.most = 200 * time.Millisecond
	other, err := os.OpenFile(s.share.path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, filelock.Wait(other, time.Second))
	begun := time.Now()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, _, err := s.admit(context.Background(), 0)
			assert.ErrorIs(t, err, ErrShare)
			assert.ErrorContains(t, err, "by another process for more than 200ms, which may have been stopped")
		})
	}
	wg.Wait()
	early.end(good(1, 1))
	assert.Less(t, time.Since(begun), 5*time.Second, "50 waits would be 10 s")
	assert.Zero(t, s.Stats().InFlight)
	require.NoError(t, filelock.Unlock(other))
	assert.EventuallyWithT(t, func(t *assert.CollectT) {
		g, _, err := s.admit(context.Background(), 0)
		if assert.NoError(t, err) {
			g.end(good(1, 1))
		}
	}, 10*time.Second, 10*time.Millisecond, "it heals")
}

// TestShareRemoved: somebody empties the cache folder; the next ones meet in
// the new file.
func TestShareRemoved(t *testing.T) {
	dir := ownCache(t)
	synctest.Test(t, func(t *testing.T) {
		limits := Limits{RPM: 60, Share: "x"}
		s, _ := shared(t, limits)
		time.Sleep(2 * time.Second)
		require.NoError(t, os.RemoveAll(dir))
		begun := time.Now()
		mustAdmit(t, s, 0).end(outcome{sent: true})
		mustAdmit(t, NewScope(limits), 0).end(outcome{sent: true})
		assert.Equal(t, time.Second, time.Since(begun))
	})
}

// TestShareCounts: of many that change the file at the same time, no change is
// lost.
func TestShareCounts(t *testing.T) {
	ownCache(t)
	limits := Limits{RPM: maxPerMinute, TPM: maxPerMinute, Share: "x"}
	const scopes, calls = 8, 200
	var wg sync.WaitGroup
	for range scopes { // each has a file of its own, as processes have
		s := NewScope(limits)
		wg.Go(func() {
			for range calls {
				g, _, err := s.admit(context.Background(), 5)
				if !assert.NoError(t, err) {
					return
				}
				g.end(good(1, 1))
			}
		})
	}
	wg.Wait()
	s := NewScope(limits)
	mustAdmit(t, s, 0).end(good(0, 0))
	assert.Equal(t, int64(scopes*calls+1), s.quotas.window.requests)
	assert.Equal(t, int64(scopes*calls*2), s.quotas.window.tokens)
}

// TestShareProcesses runs four processes at one limit, kills one of them with
// SIGKILL on the way, and counts what they started. How fast the machine is
// decides nothing: what is looked at is when each call started on paper.
func TestShareProcesses(t *testing.T) {
	const rpm, before, after = 1200, 20, 20 // 50 ms apart
	limits := Limits{RPM: rpm, Share: "processes"}
	if os.Getenv("CALL_SHARE_TEST") != "" {
		startForever(t, NewScope(limits))
		return
	}
	ownCache(t)
	starts := make(chan int64)
	var wg sync.WaitGroup
	var children []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestShareProcesses$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "CALL_SHARE_TEST=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		children = append(children, cmd)
		wg.Go(func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				if ns, err := strconv.ParseInt(s.Text(), 10, 64); err == nil {
					starts <- ns
				}
			}
		})
	}
	go func() { // all are gone at the latest when their timeouts are up
		wg.Wait()
		close(starts)
	}()
	var at []time.Duration
	var first int64
	for ns := range starts {
		if len(at) == 0 {
			first = ns
		}
		at = append(at, time.Duration(ns-first))
		switch len(at) {
		case before:
			require.NoError(t, children[0].Process.Kill())
		case before + after:
			for _, c := range children {
				_ = c.Process.Kill() // one of them twice
			}
		}
	}
	for _, c := range children {
		_ = c.Wait() // it was killed
	}
	assert.GreaterOrEqual(t, len(at), before+after, "the others went on")
	// A timer's lateness is made good, up to 100 ms. Four processes that did
	// not share would start four times as many.
	for _, w := range []time.Duration{250 * time.Millisecond, time.Second, 2 * time.Second} {
		assert.LessOrEqual(t, most(at, w), int((w+lateness+shareDrift)*rpm/time.Minute)+1, "in %v", w)
	}
}

// startForever prints when its calls started on paper.
func startForever(t *testing.T, s *Scope) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				g, _, err := s.admit(t.Context(), 0)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(s.epoch.Add(g.at).UnixNano())
				g.end(good(1, 1))
			}
		})
	}
	wg.Wait()
}

// FuzzShare: whatever stands in the file, it is read without harm: nothing
// waits for ever, and what is written after it can be read again.
func FuzzShare(f *testing.F) {
	limits := Limits{RPM: 600, TPM: 60_000}
	s := NewScope(limits)
	s.begin()
	for i := range 20 {
		g := s.start(int64(i), time.Duration(i)*time.Second, 0, 0)
		if i == 10 {
			s.limited(g, busy(seconds(5)), time.Duration(i)*time.Second)
		}
	}
	f.Add(s.save(nil, 21*time.Second, time.Unix(1e9, 0))[shareHead:])
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, body []byte) {
		data := append([]byte(shareMagic), make([]byte, shareHead-len(shareMagic))...)
		data = append(data, body...)
		binary.LittleEndian.PutUint32(data[len(shareMagic):], uint32(len(data)))
		binary.LittleEndian.PutUint32(data[len(shareMagic)+4:], crc32.Checksum(body, castagnoli))
		const now = 10 * time.Second
		wall := time.Unix(1e9, 0)
		s := NewScope(limits)
		s.begin()
		s.load(data, now, wall)
		for _, at := range []time.Duration{s.quotas.ready(now, 60_000), s.pause.until} {
			assert.LessOrEqual(t, at-now, longestPause+2*time.Minute)
		}
		s.start(100, now, 0, 0)
		again := NewScope(limits)
		again.begin()
		again.load(s.save(nil, now, wall), now, wall)
		assert.Equal(t, s.quotas.window.n, again.quotas.window.n)
		assert.Equal(t, s.quotas.window.requests, again.quotas.window.requests)
		assert.Equal(t, s.quotas.window.tokens, again.quotas.window.tokens)
		assert.False(t, again.share.dirty, "whole")
	})
}
