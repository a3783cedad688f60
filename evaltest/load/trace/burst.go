package trace

import (
	"strings"
	"time"
)

func readBurst(s *source, emit func(raw) bool) error {
	needed := []string{"timestamp", "request tokens", "response tokens"}
	models := map[string]string{}
	return s.csvRows(needed, []string{"session id", "elapsed time", "model"}, emit, func(t *table, r *raw) error {
		text, _ := t.field("timestamp")
		at, err := parseTime(text, time.Second)
		if err != nil {
			return named("Timestamp", err)
		}
		r.Timed, r.abs = true, at
		if r.Input, err = t.tokens("request tokens"); err != nil {
			return err
		}
		if r.Output, err = t.tokens("response tokens"); err != nil {
			return err
		}
		text, _ = t.field("session id") // empty in API logs
		r.Session = strings.Clone(text)
		if err := checkName(r.Session); err != nil {
			return named("Session ID", err)
		}
		if text, _ := t.field("elapsed time"); text != "" {
			if r.Elapsed, err = parseDuration(text, time.Second); err != nil {
				return named("Elapsed time", err)
			}
		}
		// A few names stand in millions of rows, and each shares its line's memory.
		if text, _ := t.field("model"); text != "" {
			if _, ok := models[text]; !ok && len(models) < 1000 {
				name := strings.Clone(text)
				models[name] = name
			}
			if r.Model = models[text]; r.Model == "" {
				r.Model = strings.Clone(text)
			}
		}
		return nil
	})
}
