package main

import (
	"strings"

	"github.com/goevals/evals/evaltest/internal/nearest"
)

// didYouMean names the one of known that is most like name, if one is.
func didYouMean(name string, known []string) string {
	best, least := "", max(2, len(name)/2)+1
	for _, k := range known {
		d := nearest.Distance(strings.ToLower(name), strings.ToLower(k))
		if name != "" && (strings.HasPrefix(k, name) || strings.HasSuffix(k, name)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}
