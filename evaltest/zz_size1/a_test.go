package z
import ("testing";"github.com/goevals/evals/evaltest";"github.com/goevals/evals/llm")
func TestA(t *testing.T){ evaltest.Run(t,nil,nil,evaltest.Price(func(llm.Response)(string,bool){return "",false})) }
