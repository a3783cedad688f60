package price

import (
	"iter"
	"strings"
)

// providers are the names under which tools know who bills; the first is ours.
var providers = [][]string{
	{"openai"},
	{"anthropic", "claude"},
	{"google", "gemini", "google_ai", "vertex", "vertex_ai", "vertexai", "google-vertex"},
	{"deepseek"},
	{"groq"},
	{"mistral", "mistralai"},
	{"together", "together_ai", "togetherai", "together.ai"},
	{"xai", "x-ai", "x.ai"},
	{"moonshot", "moonshotai"},
	{"cohere"},
	{"openrouter"},
	{"azure", "azure_ai", "azure-openai", "azure_openai"},
	{"bedrock", "aws", "amazon-bedrock"},
	{"fireworks", "fireworks_ai"},
}

// hosts serve models that others serve too, also one's own server, under the
// same id: their prices count only where they are named.
var hosts = map[string]bool{"groq": true, "together": true, "fireworks": true, "openrouter": true, "azure": true, "bedrock": true}

// canonical is our name of a provider; what is not known stays, in lower case.
func canonical(provider string) string {
	provider = strings.ToLower(strings.TrimSpace(provider))
	for _, names := range providers {
		for _, n := range names {
			if n == provider {
				return names[0]
			}
		}
	}
	return provider
}

// readings are the ways to read an id, longest first: as it stands, then
// without the prefixes that APIs and gateways put before it. provider is empty
// where the id does not say.
func readings(id string) iter.Seq[reading] {
	return func(yield func(reading) bool) {
		if !yield(reading{"", id}) {
			return
		}
		before, rest, ok := strings.Cut(id, "/")
		if !ok || before == "" {
			return
		}
		switch before {
		// Gemini API and Vertex AI name resources by path. A tuned model or an
		// endpoint has another path, and is not the model it came from. Others'
		// models cost on Vertex AI what Vertex AI says.
		case "models":
			yield(reading{"google", rest})
		case "projects", "publishers":
			path := strings.Split(id, "/")
			if len(path) == 8 && path[2] == "locations" {
				path = path[4:]
			}
			if len(path) == 4 && path[0] == "publishers" && path[1] == "google" && path[2] == "models" {
				yield(reading{"google", path[3]})
			}
		default:
			yield(reading{canonical(before), rest})
		}
	}
}

type reading struct{ provider, model string }
