package z
import ("testing";"github.com/goevals/evals/evaltest";"github.com/goevals/evals/llm/price")
func TestA(t *testing.T){ evaltest.Run(t,nil,nil,evaltest.Price(price.Default().Response)) }
