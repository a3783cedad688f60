package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// The variables that are read where [Config] says nothing.
const (
	// DefaultKeyEnv and SecondKeyEnv hold keys; the first that is set counts.
	DefaultKeyEnv = "GOOGLE_API_KEY"
	SecondKeyEnv  = "GEMINI_API_KEY"
	// VertexEnv chooses Vertex AI if it is 1, true or yes, and the Gemini API
	// if it is 0, false, no or empty. Anything else is an error.
	VertexEnv = "GOOGLE_GENAI_USE_VERTEXAI"
	// ProjectEnv and LocationEnv are Vertex AI's.
	ProjectEnv  = "GOOGLE_CLOUD_PROJECT"
	LocationEnv = "GOOGLE_CLOUD_LOCATION"
	// GeminiBaseURLEnv and VertexBaseURLEnv name another server.
	GeminiBaseURLEnv = "GOOGLE_GEMINI_BASE_URL"
	VertexBaseURLEnv = "GOOGLE_VERTEX_BASE_URL"
)

// What is called where neither Config nor the environment says anything.
const (
	DefaultBaseURL  = "https://generativelanguage.googleapis.com" // of the Gemini API
	DefaultLocation = "global"                                    // of Vertex AI

	defaultVertexHost = "aiplatform.googleapis.com"
)

// A Config says which model to call, and through which of Google's two APIs.
// Only Model is needed.
type Config struct {
	// Model is the model's id: gemini-2.5-flash. On Vertex AI also
	// publisher/model, or a full name that begins with projects/ (a tuned
	// model's endpoint).
	Model string
	// Vertex chooses Vertex AI, GeminiAPI the Gemini API, whatever the
	// environment says. Neither leaves the choice to the variable
	// GOOGLE_GENAI_USE_VERTEXAI, which is read at each call; without it the
	// Gemini API is called. Both cannot be meant.
	Vertex, GeminiAPI bool
	// Project and Location are Vertex AI's. Empty means the variables
	// GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, then the location
	// "global". A Project or Location set here makes Vertex AI be called with
	// credentials even if the environment holds a key.
	Project, Location string
	// Credentials returns an access token for Vertex AI, without the word
	// Bearer; it is called for each call that leaves the process, and must be
	// safe for concurrent use. Nil means Application Default Credentials:
	// GOOGLE_APPLICATION_CREDENTIALS, what gcloud left, or the machine's own
	// account. They are looked for when the first call leaves.
	Credentials func(context.Context) (string, error)
	// KeyEnv names the one environment variable that holds the key; it is read
	// at each call. Empty means GOOGLE_API_KEY, then GEMINI_API_KEY. On Vertex
	// AI a key that is named here is used instead of credentials, and one of
	// the environment where there is no project: express mode.
	KeyEnv string
	// BaseURL is the server; the API's version may stand at its end. Empty
	// means the variable GOOGLE_GEMINI_BASE_URL or GOOGLE_VERTEX_BASE_URL, then
	// Google itself.
	BaseURL string
	// Provider stands in errors. Default "gemini", or "vertex" on Vertex AI.
	Provider string
	// HTTPClient makes the calls; its Transport goes below llm/wire. It need
	// not know of credentials. Default: a pool shared by all clients, without a
	// timeout of its own, since the call's context has one. A Timeout here
	// would also cut streams.
	HTTPClient *http.Client
	// Header is sent with each call. One that is an X-Goog-Api-Key or
	// Authorization stands in for a key.
	Header http.Header
	// Extra are further fields of each request's body. Objects are merged into
	// those that the client sends, field by field, as JSON merge patches are
	// (RFC 7396): {"generationConfig":{"topK":5}} adds one setting, and a null
	// removes what the client would have sent. A request's own Extra is merged
	// last.
	Extra map[string]json.RawMessage
}

// New returns a client of this model at the API that the environment chooses.
// It panics if model is empty.
func New(model string) *Client { return Config{Model: model}.New() }

// New returns a client. It panics if Model is empty or another field cannot
// be meant, naming it: these are mistakes of the program. What the environment
// holds is checked at each call and returned as an error.
func (c Config) New() *Client {
	if strings.TrimSpace(c.Model) == "" {
		panic("gemini: Config.Model is empty: give the model's id")
	}
	if why := modelFault(c.Model); why != "" {
		panic(fmt.Sprintf("gemini: Config.Model is %q: %s", wire.Mask(c.Model), why))
	}
	if c.Vertex && c.GeminiAPI {
		panic("gemini: Config.Vertex and Config.GeminiAPI are both set: set one, or neither for the environment's choice")
	}
	if c.BaseURL != "" {
		if _, err := parseBase(c.BaseURL); err != nil {
			panic(fmt.Sprintf("gemini: Config.BaseURL %v", err))
		}
	}
	if c.Project != "" && !projectName.MatchString(c.Project) {
		panic(fmt.Sprintf("gemini: Config.Project is %q: want a project's id or number", c.Project))
	}
	if c.Location != "" && !locationName.MatchString(c.Location) {
		panic(fmt.Sprintf("gemini: Config.Location is %q: want a name such as us-central1", c.Location))
	}
	for name, v := range c.Extra {
		if bad := client.ExtraFault(name, v); bad != "" {
			panic("gemini: Config." + bad)
		}
	}
	return &Client{cfg: c, http: client.HTTP(c.HTTPClient, c.Provider, func(base http.RoundTripper) http.RoundTripper { return guard{base} }), adc: &adc{}}
}

// modelFault says why a model's name cannot stand in a path, "" if it can.
func modelFault(model string) string {
	if strings.Contains(model, "..") || strings.ContainsAny(model, "?&#%\\ \t\r\n") {
		return "it holds a character that no model's name has"
	}
	return ""
}

func parseBase(s string) (*url.URL, error) {
	u, err := client.ParseBase(s, DefaultBaseURL)
	if err == nil && (u.RawQuery != "" || u.Fragment != "") {
		return nil, fmt.Errorf("is %q: it has a query, which would not be sent; what a gateway wants goes into Header", wire.Mask(s))
	}
	return u, err
}

// refuse is the error for what cannot be sent as it is meant.
func refuse(provider, format string, args ...any) error {
	return &llm.Error{Kind: llm.KindBadRequest, Provider: provider, Message: fmt.Sprintf(format, args...)}
}
