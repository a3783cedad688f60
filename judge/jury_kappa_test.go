package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

// TestFleiss: 14 raters, 10 items, 5 categories: the worked example that is
// printed with the formula in many places, 0.210.
func TestFleiss(t *testing.T) {
	kappa, err := fleiss([][]int{
		{0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2, 0}, {2, 2, 8, 1, 1},
		{7, 7, 0, 0, 0}, {3, 2, 6, 3, 0}, {2, 5, 3, 2, 2}, {6, 5, 2, 1, 0}, {0, 2, 2, 3, 7},
	})
	require.NoError(t, err)
	assert.InDelta(t, 0.210, kappa, 0.0005)

	// Two raters: Scott's pi. They agree on 7 of 10 and say the first word 11
	// times of 20: chance is .55² + .45² = .505.
	kappa, err = fleiss([][]int{{2, 0}, {2, 0}, {2, 0}, {2, 0}, {1, 1}, {1, 1}, {0, 2}, {0, 2}, {0, 2}, {1, 1}})
	require.NoError(t, err)
	assert.InDelta(t, (0.7-0.505)/0.495, kappa, 1e-12)

	_, err = fleiss([][]int{{2, 0}})
	var few *stat.NotEnough
	require.ErrorAs(t, err, &few)
	_, err = fleiss([][]int{{2, 0}, {2, 0}})
	var undefined *stat.Undefined
	require.ErrorAs(t, err, &undefined)
}
