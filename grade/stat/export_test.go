package stat

// The internals that the tests of the external package check against published
// values.
var (
	BetaCDF         = betaCDF
	BetaQuantile    = betaQuantile
	StudentUpper    = studentUpper
	StudentQuantile = studentQuantile
	NormalUpper     = normalUpper
	NormalQuantile  = normalQuantile
	BinomialUpper   = binomialUpper
	Binomial        = binomial
)
