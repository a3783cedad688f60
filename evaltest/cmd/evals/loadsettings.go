package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/client"
)

// version is this program's, as the module's build says.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// settings are the CSV cells that are not measured.
func (f *loadFlags) settings(l *load.Load, s *loadStuff, salt uint64) map[string]string {
	text := func(v fmt.Stringer) string { return v.String() }
	m := map[string]string{
		"model": f.server.model, "dataset_path": cmp.Or(f.dataset, f.trace.path, "synthetic"), "sglang": strconv.FormatBool(l.Client.Lengths == client.SGLang),
		"request_timeout_secs": strconv.Itoa(f.server.timeout), "max_retries": strconv.Itoa(f.server.retries), "retry_delay_ms": strconv.Itoa(f.server.delay),
		"output_tokens": text(&f.output.fixed), "output_vary": text(&f.output.vary), "output_lognorm_mu": text(&f.output.mu),
		"output_lognorm_sigma": text(&f.output.sigma), "output_lognorm_max": text(&f.output.max), "output_lognorm_median": text(&f.output.median),
		"input_tokens": text(&f.input.fixed), "input_vary": text(&f.input.vary), "input_lognorm_mu": text(&f.input.mu),
		"input_lognorm_sigma": text(&f.input.sigma), "input_lognorm_max": text(&f.input.max), "input_lognorm_median": text(&f.input.median),
		"input_prefix_overlap": text(&f.overlap), "seed": strconv.FormatUint(l.Seed, 10),
		"tokenizer": "words", "evals_version": version(), "arrival": "closed",
	}
	if s.tokens != nil {
		m["tokenizer"] = s.tokens.Name()
	}
	if n := cmp.Or(s.length, l.Source.Len()); n > 0 {
		m["dataset_size"] = strconv.Itoa(n)
	}
	if f.salted(s) {
		m["salt"] = strconv.FormatUint(salt, 10)
	}
	if l.Users > 0 {
		m["users"] = strconv.Itoa(l.Users)
		if l.RequestsPerUser > 0 {
			m["requests_per_user"] = strconv.Itoa(l.RequestsPerUser)
		}
	} else {
		m["arrival"] = l.Schedule.String()
		m["rate"] = text(&f.when.rate)
	}
	if d := f.when.duration; d > 0 {
		m["duration_seconds"] = strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	return m
}

// salted reports whether a salt changes the prompts.
func (f *loadFlags) salted(s *loadStuff) bool {
	return s.rows == nil && !f.noSalt || s.rows != nil && f.salt.p != nil
}

// warnings are what a person should know of the flags.
func (f *loadFlags) warnings(s *loadStuff) []string {
	list := slices.Clone(s.warn)
	if o := f.overlap.or(0); o < 0 || o > 1 {
		list = append(list, fmt.Sprintf("-input-prefix-overlap is %v: taken as %v, as batchbench does", o, min(1, max(0, o))))
	}
	return list
}
