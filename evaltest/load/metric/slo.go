package metric

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An SLO is what a good answer keeps to. A limit of 0 is none; an SLO without
// limits asks for nothing, and no goodput is reported.
type SLO struct {
	Name   string `json:"name,omitempty"`
	Source string `json:"source,omitempty"` // where a preset's limits are from

	TTFT time.Duration `json:"ttft_limit_ns,omitempty"` // to the first token
	TPOT time.Duration `json:"tpot_limit_ns,omitempty"` // a token after that
	E2E  time.Duration `json:"e2e_limit_ns,omitempty"`  // to the last token
	// Share is the part of due requests that must keep each limit, such as
	// 0.99; 0 asks for none, and Goodput.Met is absent.
	Share float64 `json:"share,omitempty"`
	// Service judges TTFT and E2E from when a request was sent. The default is
	// from when it was due, as MLPerf's Server scenario does: what waits in a
	// late client waits for its user too.
	Service bool `json:"service_clock,omitempty"`
}

func (s SLO) limits() bool { return s.TTFT > 0 || s.TPOT > 0 || s.E2E > 0 }

func (s SLO) check() error {
	for _, l := range []struct {
		name  string
		value time.Duration
	}{{"TTFT", s.TTFT}, {"TPOT", s.TPOT}, {"E2E", s.E2E}} {
		if l.value < 0 {
			return fmt.Errorf("metric: SLO %s of %v is negative; 0 is no limit", l.name, l.value)
		}
	}
	if !(s.Share >= 0 && s.Share <= 1) {
		return fmt.Errorf("metric: SLO share of %v: want 0 to 1, such as 0.99", s.Share)
	}
	if s.Share > 0 && !s.limits() {
		return fmt.Errorf("metric: SLO share of %v without a limit: set TTFT, TPOT or E2E", s.Share)
	}
	return nil
}

// judgement says which limits an answer kept.
type judgement struct{ ttft, tpot, e2e bool }

func (j judgement) all() bool { return j.ttft && j.tpot && j.e2e }

// judge judges an answer. What cannot be shown to be within a limit is not;
// but nothing was generated slowly where nothing was generated after the first
// fragment, or faster than the clock can tell.
func (s SLO) judge(v *View) judgement {
	ttft, e2e := v.ResponseTTFT, v.ResponseE2E
	if s.Service {
		ttft, e2e = v.TTFT, v.E2E
	}
	return judgement{
		ttft: within(ttft, s.TTFT),
		tpot: within(v.TPOT, s.TPOT) || v.NoTPOT == OneFragment || v.NoTPOT == BelowNoise,
		e2e:  within(e2e, s.E2E),
	}
}

func within(f Figure, limit time.Duration) bool {
	v, ok := f.Get()
	return limit == 0 || ok && v <= float64(limit)
}

// doomed reports whether a request that was cut while in flight had missed a
// limit already. waited is since it was due (or sent), answered whether a
// fragment had come.
func (s SLO) doomed(waited time.Duration, v *View, answered bool) bool {
	if s.E2E > 0 && waited > s.E2E {
		return true
	}
	ttft := v.ResponseTTFT
	if s.Service {
		ttft = v.TTFT
	}
	return s.TTFT > 0 && (!answered && waited > s.TTFT || answered && ttft.Known() && !within(ttft, s.TTFT))
}

// presets are the limits of MLPerf inference's Server scenario, each for the
// 99th percentile: mlcommons/inference, as of August 2026.
var presets = []SLO{
	preset("llama2-70b", 2000, 200), preset("llama2-70b-interactive", 450, 40),
	preset("llama3.1-405b", 6000, 175), preset("llama3.1-405b-interactive", 4500, 80),
	preset("llama3.1-8b", 2000, 100), preset("llama3.1-8b-interactive", 500, 30),
	preset("mixtral", 2000, 200),
	preset("deepseek-r1", 2000, 80), preset("deepseek-r1-interactive", 1500, 15),
	preset("gpt-oss-120b", 3000, 80), preset("gpt-oss-120b-interactive", 2000, 15),
}

const source = "MLPerf inference, Server scenario, p99 limits (mlcommons/inference b66003e1, 2026-08-20)"

func preset(name string, ttft, tpot time.Duration) SLO {
	s := SLO{Name: "mlperf-" + name, Source: source, TTFT: ttft * time.Millisecond, TPOT: tpot * time.Millisecond, Share: 0.99}
	if strings.HasSuffix(name, "-interactive") {
		s.Source = strings.Replace(source, "Server scenario", "Interactive scenario", 1)
	}
	if name == "gpt-oss-120b-interactive" {
		s.Source += "; 15 ms as in the configuration file, the rules' text says 20 ms"
	}
	return s
}

// Presets returns the SLOs that are known by name, in a fixed order.
func Presets() []SLO { return slices.Clone(presets) }

// Preset returns the SLO of that name, such as "mlperf-llama2-70b". The error of
// an unknown name lists those there are.
func Preset(name string) (SLO, error) {
	names := make([]string, len(presets))
	for i, s := range presets {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return SLO{}, fmt.Errorf("metric: no SLO preset %q; there are %s", name, strings.Join(names, ", "))
}
