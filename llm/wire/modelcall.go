package wire

import (
	"net/http"
	"slices"
	"strings"
)

// modelPaths end the paths of known APIs: OpenAI's and those of its imitators
// (Azure's deployments included), Anthropic's, Cohere's and Ollama's own.
var modelPaths = []string{"/completions", "/responses", "/v1/messages", "/v1/complete", "/embeddings", "/v2/chat", "/api/chat", "/api/generate", "/api/embed"}

// geminiVerbs follow the colon in a path of Gemini's, or of Vertex AI's.
var geminiVerbs = []string{"generateContent", "streamGenerateContent", "embedContent", "batchEmbedContents", "rawPredict", "streamRawPredict"}

// bedrockVerbs follow /model/{id} in a path of Bedrock's.
var bedrockVerbs = []string{"invoke", "invoke-with-response-stream", "converse", "converse-stream"}

// IsModelCall reports whether a request with this method and path asks a model
// for something, as far as the paths of known APIs tell: of OpenAI (and what
// imitates it, Azure included), Anthropic, Gemini, Vertex AI, Bedrock, Cohere
// and Ollama.
func IsModelCall(method, path string) bool {
	if method != http.MethodPost {
		return false
	}
	path = strings.TrimSuffix(path, "/")
	for _, s := range modelPaths {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	dir, last := path, ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, last = path[:i], path[i+1:]
	}
	if slices.Contains(bedrockVerbs, last) {
		return strings.Contains(dir, "/model/")
	}
	// A model's id may have a colon itself.
	verb := last[strings.LastIndexByte(last, ':')+1:]
	return verb != last && (slices.Contains(geminiVerbs, verb) || verb == "predict" && strings.Contains(dir, "/publishers/"))
}

// streamsArray reports whether JSON from this path comes as an array, piece by
// piece: Gemini's stream where no server-sent events were asked for.
func streamsArray(path string) bool {
	return strings.HasSuffix(path, ":streamGenerateContent")
}
