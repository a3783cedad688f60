package gemini

import (
	"cmp"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
)

// Both go into a URL, the location into the host that gets the credentials.
var (
	projectName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.:-]*$`)
	locationName = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
)

// target is where one call goes. The environment is asked at each call, so
// that a test may set it and so that go test's cache knows of it.
type target struct {
	provider string
	vertex   bool
	base     *url.URL // without the version
	version  string
	model    string // with all that stands before it in the path
	key      string
	keyEnvs  string // where the key was looked for
	token    bool   // credentials are sent, not a key
	guarded  bool   // a key or credentials are needed
}

func (c Config) target() (target, error) {
	vertex, err := c.onVertex()
	if err != nil {
		return target{}, err
	}
	t := target{vertex: vertex, provider: c.provider(vertex), version: "v1beta"}
	t.key, t.keyEnvs = c.key()
	baseEnv := GeminiBaseURLEnv
	if vertex {
		t.version, baseEnv = "v1beta1", VertexBaseURLEnv
	}
	base := cmp.Or(c.BaseURL, os.Getenv(baseEnv))
	if base != "" {
		if t.base, err = parseBase(base); err != nil {
			return t, refuse(t.provider, "the variable %s %v", baseEnv, err)
		}
		t.cutVersion()
	}
	if !vertex {
		if c.Project != "" || c.Location != "" || c.Credentials != nil {
			return t, refuse(t.provider, "Config has a Project, Location or Credentials, which are Vertex AI's: set Vertex, or the variable %s to true, and not GeminiAPI", VertexEnv)
		}
		if t.base == nil {
			t.base = &url.URL{Scheme: "https", Host: strings.TrimPrefix(DefaultBaseURL, "https://")}
		}
		t.model = c.Model
	} else if err := c.vertexTarget(&t); err != nil {
		return t, err
	}
	t.guarded = c.Credentials != nil && vertex || !client.IsLoopback(t.base)
	return t, nil
}

// onVertex says which API is meant.
func (c Config) onVertex() (bool, error) {
	if c.Vertex || c.GeminiAPI {
		return c.Vertex, nil
	}
	switch v := os.Getenv(VertexEnv); strings.ToLower(v) {
	case "", "0", "false", "no":
		return false, nil
	case "1", "true", "yes":
		return true, nil
	default:
		return false, refuse(c.provider(false), "the variable %s is %q: want true or false", VertexEnv, v)
	}
}

func (c Config) provider(vertex bool) string {
	name := "gemini"
	if vertex {
		name = "vertex"
	}
	return cmp.Or(c.Provider, name)
}

// key is the key of the environment, and where it was looked for.
func (c Config) key() (key, envs string) {
	if c.KeyEnv != "" {
		return os.Getenv(c.KeyEnv), c.KeyEnv
	}
	return cmp.Or(os.Getenv(DefaultKeyEnv), os.Getenv(SecondKeyEnv)), DefaultKeyEnv + " or " + SecondKeyEnv
}

// vertexTarget decides between a project with credentials and express mode,
// which has a key and no project, as Google's SDKs do: what the program says
// counts more than the environment, and there a project more than a key.
func (c Config) vertexTarget(t *target) error {
	project := cmp.Or(c.Project, os.Getenv(ProjectEnv))
	location := cmp.Or(c.Location, os.Getenv(LocationEnv), DefaultLocation)
	if !locationName.MatchString(location) {
		return refuse(t.provider, "the variable %s is %q: want a name such as us-central1", LocationEnv, location)
	}
	if project != "" && !projectName.MatchString(project) {
		return refuse(t.provider, "the variable %s is %q: want a project's id or number", ProjectEnv, project)
	}
	named := c.KeyEnv != "" && c.Credentials == nil // the program wants a key
	switch {
	case named && c.Project == "" && c.Location == "":
		project = "" // express mode
	case named && project == "":
		return refuse(t.provider, "Config.Location is %q, but there is no project: set Config.Project or the variable %s, or neither for express mode", c.Location, ProjectEnv)
	case named: // a key for a project
	default:
		byProgram := c.Project != "" || c.Location != "" || c.Credentials != nil
		t.token = byProgram || project != "" || t.key == ""
	}
	full := strings.HasPrefix(c.Model, "projects/")
	if project == "" && t.token && !full && t.base == nil {
		return &llm.Error{
			Kind: llm.KindAuth, Provider: t.provider,
			Message: "no project and no key: set the environment variable " + ProjectEnv + " (with credentials), or " + t.keyEnvs + " for express mode",
		}
	}
	if t.base == nil {
		t.base = &url.URL{Scheme: "https", Host: vertexHost(location, project != "")}
	}
	t.model = publisherModel(c.Model)
	if project != "" && !full {
		t.model = "projects/" + project + "/locations/" + location + "/" + t.model
	}
	return nil
}

// vertexHost is the host of a location. Express mode has the global one only.
func vertexHost(location string, project bool) string {
	switch {
	case location == "global" || !project:
		return defaultVertexHost
	case location == "us" || location == "eu":
		return "aiplatform." + location + ".rep.googleapis.com"
	}
	return location + "-" + defaultVertexHost
}

// publisherModel is a model's name as it stands behind the location.
func publisherModel(model string) string {
	switch {
	case strings.HasPrefix(model, "projects/"), strings.HasPrefix(model, "publishers/"):
		return model
	case strings.HasPrefix(model, "models/"):
		return "publishers/google/" + model
	}
	if publisher, name, ok := strings.Cut(model, "/"); ok {
		return "publishers/" + publisher + "/models/" + name
	}
	return "publishers/google/models/" + model
}

var versionEnd = regexp.MustCompile(`^(.*)/(v\d+(?:alpha|beta)?\d*)/?$`)

// cutVersion takes the version from the end of the base URL.
func (t *target) cutVersion() {
	if m := versionEnd.FindStringSubmatch(t.base.Path); m != nil {
		u := *t.base
		u.Path, u.RawPath = m[1], ""
		t.base, t.version = &u, m[2]
	}
}
