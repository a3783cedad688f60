// Typecheck type-checks all packages and tests of this module as other systems
// would compile them. go vet does the same, but compiles the standard library and
// all dependencies first, which takes minutes on a new machine.
//
//	go run -modfile=.ci/tools.mod ./.ci/typecheck darwin windows
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	bad := false
	for _, system := range os.Args[1:] {
		problems, n, err := check(system)
		switch {
		case err != nil:
			problems = []string{err.Error()}
		case n == 0:
			problems = []string{"no packages were found"}
		}
		for _, p := range problems {
			fmt.Printf("%s: %s\n", system, p)
			bad = true
		}
		fmt.Printf("%s: %d packages and tests\n", system, n)
	}
	if bad {
		os.Exit(1)
	}
}

// check returns what does not compile, and how many packages there are.
func check(system string) (problems []string, n int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, 0, err
	}
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedModule | packages.NeedFiles | packages.NeedCompiledGoFiles |
			packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		// What others' functions do is their business; that their imports are not
		// used then is no problem of ours.
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
			if err == nil && !strings.HasPrefix(name, root+string(os.PathSeparator)) {
				for _, d := range f.Decls {
					if fn, ok := d.(*ast.FuncDecl); ok {
						fn.Body = nil
					}
				}
			}
			return f, err
		},
	}, "./...")
	if err != nil {
		return nil, 0, err
	}
	for _, p := range list {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main function that go test makes up
		}
		n++
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	}
	return problems, n, nil
}
