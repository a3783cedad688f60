package run

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Named is implemented by strategies, graders, judges and models that have a
// name for people.
type Named interface{ Name() string }

// NameOf returns the name of a strategy, grader, judge or model: its Name, or
// its String, or the function's, or the type's. "" for nil. It never panics.
func NameOf(v any) (name string) {
	if v == nil {
		return ""
	}
	defer func() {
		if recover() != nil || name == "" {
			name = strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
		}
	}()
	switch n := v.(type) {
	case Named:
		return n.Name()
	case fmt.Stringer:
		return n.String()
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Func {
		name = runtime.FuncForPC(r.Pointer()).Name()
		name = name[strings.LastIndexByte(name, '/')+1:]
		return strings.TrimSuffix(name, "-fm") // what a method value's name ends with
	}
	return ""
}
