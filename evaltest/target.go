package evaltest

import (
	"errors"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
)

// checkTargets refuses a dataset whose targets the grader cannot grade with:
// every answer would be paid for and end as errored.
func checkTargets(g grade.Grader, ds *dataset.Dataset) error {
	const shown = 3
	var errs []error
	bad := 0
	for item := range ds.All() {
		if err := grade.CheckTarget(g, item); err != nil {
			if bad++; bad <= shown {
				errs = append(errs, err)
			}
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("nothing was asked, because the grader %s cannot grade %d of the %d targets: choose another grader or map another column\n%w",
		grade.NameOf(g), bad, ds.Len(), errors.Join(errs...))
}
