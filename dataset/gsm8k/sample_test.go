package gsm8k_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
)

var (
	note   = regexp.MustCompile(`<<([^=<>]+)=([^<>]+)>>`)
	number = regexp.MustCompile(`\d+(\.\d+)?`)
)

// TestSampleAnswers checks every answer of testdata/gsm8k_sample.jsonl.gz
// against a computation of its own, written from the question and not from the
// solution, and every step inside a solution against exact arithmetic.
func TestSampleAnswers(t *testing.T) {
	ds, err := gsm8k.Load("../../testdata/gsm8k_sample.jsonl.gz")
	require.NoError(t, err)
	require.GreaterOrEqual(t, ds.Len(), 100)
	require.Equal(t, len(computed), ds.Len(), "every row needs a computation")
	for item := range ds.All() {
		want, ok := computed[item.ID]
		if assert.True(t, ok, "%s has no computation", item.ID) {
			assert.Equal(t, strconv.Itoa(want), item.Target, "%s: %s", item.ID, item.Input)
		}
		checkSteps(t, item)
	}
}

func checkSteps(t *testing.T, item dataset.Item) {
	var row struct{ Answer string }
	require.NoError(t, item.Decode(&row))
	for _, step := range note.FindAllStringSubmatch(row.Answer, -1) {
		assert.True(t, constant.Compare(eval(t, step[1]), token.EQL, eval(t, step[2])), "%s: %s", item.ID, step[0])
	}
}

// eval computes an expression in exact rationals; 6/4 is 1.5.
func eval(t *testing.T, expr string) constant.Value {
	expr = number.ReplaceAllStringFunc(expr, func(n string) string {
		if strings.Contains(n, ".") {
			return n
		}
		return n + ".0"
	})
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expr)
	require.NoError(t, err, expr)
	return v.Value
}

// computed holds the answers as expressions in the numbers of each question.
var computed = map[string]int{
	"sample-001": 6 * 3,
	"sample-002": 45 * 4,
	"sample-003": 52 - 17 + 9,
	"sample-004": 8*12 - 70,
	"sample-005": 15*5 + 40,
	"sample-006": 90 / 15,
	"sample-007": 2*14 + 3*(14/2),
	"sample-008": (350 - 100) / 25,
	"sample-009": 24*5 + 6,
	"sample-010": 600 - 40*11,
	"sample-011": 9*3 + 14,
	"sample-012": 20*36 - 15,
	"sample-013": 84/3 + 4,
	"sample-014": 130 - 48 + 27 - 35,
	"sample-015": 7 * 5 * 12 / 12 * 3,
	"sample-016": 135 - 48 - 52,
	"sample-017": 2 * (12 + 4) * 6,
	"sample-018": 3 + 4 + 5 + 6,
	"sample-019": 8 * 75 / 30,
	"sample-020": 50 - 4*3 - 2*5,
	"sample-021": 200 - 200/4,
	"sample-022": (36 + 41) * 18,
	"sample-023": 64*2 - 20,
	"sample-024": 85 - 4*16,
	"sample-025": 480 - 480*25/100,
	"sample-026": 28*(9+4) - 100,
	"sample-027": 240 / 3 * 5,
	"sample-028": 150 - 150*30/100 - 45,
	"sample-029": 9 * (14 - 2),
	"sample-030": 300 / 4 * 10,
	"sample-031": 3 * 48 / 6,
	"sample-032": 2600 - 850 - 1275,
	"sample-033": 18*35 + 12*20,
	"sample-034": (22 - 5*2) / 3,
	"sample-035": 40*250 - 1800,
	"sample-036": 3 * 7 * 8,
	"sample-037": 56 / 4 * 3,
	"sample-038": 75 - 32 - 2*11,
	"sample-039": 360 / 8 * 3,
	"sample-040": 23 - 7 + 41 + 16,
	"sample-041": 36 * 25,
	"sample-042": 20 * 3 / 12 * 4,
	"sample-043": (50 - 15) * 2,
	"sample-044": 900 - 14*55,
	"sample-045": 4 - 3*5,
	"sample-046": 190 % 6,
	"sample-047": 320*12 - 2500,
	"sample-048": 6 * 10 / 4,
	"sample-049": 18 + 18/2 + 18/2 + 5,
	"sample-050": 16*12 + 30*4,
	"sample-051": 5*20 + 8*5,
	"sample-052": 9*22 - 37,
	"sample-053": (70 + 90) * 4,
	"sample-054": 3*24 - 10,
	"sample-055": 17*5 - 6*2,
	"sample-056": 80 * 55,
	"sample-057": 24 - 2*7,
	"sample-058": 45 - 45/5*2,
	"sample-059": (250 + 39) / 40 * 3,
	"sample-060": 2400/800*2 + 2,
	"sample-061": 35 + 3*(35+10),
	"sample-062": 4 * 750 / 125,
	"sample-063": 1240 + 35 - 22 + 58,
	"sample-064": 9*6 + 4*10,
	"sample-065": 7 * 6 * 50,
	"sample-066": 600 - 600/3 - 120,
	"sample-067": (600 / 30) * (300 / 30),
	"sample-068": 12 * 1000 / 400,
	"sample-069": (12+6)/2 - 6,
	"sample-070": 14*3 + (20-14)/2,
	"sample-071": 28 * 650 / 100,
	"sample-072": (900 - 180) / 12,
	"sample-073": 3500 + 250*8,
	"sample-074": 10 * 9 / 2,
	"sample-075": 320 - 24*10,
	"sample-076": 15*6 + 10*4,
	"sample-077": 14 * 3,
	"sample-078": 6*8 - 39,
	"sample-079": 18 * 45 * 3,
	"sample-080": (96 - 96/3) - (96-96/3)/4,
	"sample-081": 10*3 - 24,
	"sample-082": (9 - 4) * 6,
	"sample-083": 6 * 14 / 4,
	"sample-084": 120 + (120 - 30) + (120-30)/3,
	"sample-085": 2*45 + 15 + 10,
	"sample-086": 210 / 14 * 2,
	"sample-087": 6 * (1150 + 275),
	"sample-088": (385 + 59) / 60,
	"sample-089": (40 - 9*3) / 2,
	"sample-090": 300 - 5*12,
	"sample-091": 52 / 4,
	"sample-092": 5 + 9*2,
	"sample-093": 150 + 150 + 150*40/100,
	"sample-094": 5 * (17 - 2),
	"sample-095": 18 * 50 * 12 / 100,
	"sample-096": 12/4 + 12/6,
	"sample-097": (8 + 3) - (13 - 5),
	"sample-098": 2250 / 450 * 36,
	"sample-099": (20 + 26 + 35) / 9,
	"sample-100": (340 - 65 + 92) * 30,
	"sample-101": 18 - 18/6*4,
	"sample-102": 540/45 + 3,
	"sample-103": 54/2 - 16,
	"sample-104": 7 * 13 / 2,
	"sample-105": 800 + 800*5/100,
	"sample-106": 420*4 + 420 - 150,
	"sample-107": 19 + 10 + 6,
	"sample-108": 3*1200 + 5*850,
	"sample-109": 6 + 4,
	"sample-110": 1340 - 415,
	"sample-111": 11*2 + 9 - 8,
	"sample-112": -120 + 45 - 70,
	"sample-113": 2400000/5 - 2400000/5/10,
	"sample-114": 26*4 + 9*2,
	"sample-115": 60 / 5 * 2,
	"sample-116": 8*7 - 19,
	"sample-117": 1000 - 12*75,
	"sample-118": (64*5 - 85) / 2}
