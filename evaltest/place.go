package evaltest

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// A place is where a call of Run or Benchmark stands.
type place struct {
	module, pkg string // the module's and the package's import path
	file        string // base name
	line        int
}

// caller returns the place of the function that is skip calls above its own
// caller.
func caller(skip int) place {
	var p place
	pc, file, line, ok := runtime.Caller(skip + 1)
	if ok {
		p.file, p.line = file[strings.LastIndexAny(file, `/\`)+1:], line
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		// A test binary's path is that of its package with ".test".
		p.module, p.pkg = info.Main.Path, strings.TrimSuffix(info.Path, ".test")
	}
	if f := runtime.FuncForPC(pc); p.pkg == "" && f != nil {
		p.pkg = packageOf(f.Name())
	}
	return p
}

// packageOf returns the import path in a function's full name, as in
// example.com/m/pkg_test.TestX.func1. It is for binaries that were not built
// by the go command and know no more.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	pkg, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + strings.TrimSuffix(pkg, "_test")
}
