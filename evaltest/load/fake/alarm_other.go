//go:build !linux

package fake

// newAlarm returns nil: the runtime's timers do.
func newAlarm() alarm { return nil }
