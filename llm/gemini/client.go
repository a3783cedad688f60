package gemini

import (
	"google.golang.org/genai"
)

var _ = genai.BackendGeminiAPI
