package bakeoff

import (
	"os"
	"strings"
)

// processor is the processor's name as Linux tells it; "" elsewhere, where only
// a program could be asked.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return modelName(string(data))
}

// modelName is the first processor's name in the text of /proc/cpuinfo. Some
// architectures give none.
func modelName(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
