package cassette

import "regexp"

// vertexAccount is the part of a path of Vertex AI that names who asks and
// where: /v1/projects/P/locations/L/publishers/google/models/M:generateContent.
// Only what follows says what is asked; with a key instead of an account the
// path is the same without it.
var vertexAccount = regexp.MustCompile(`/projects/[^/?]+/locations/[^/?]+(/publishers/|/endpoints/openapi/)`)

// withoutAccount is a path as requests are compared by and stored: a recording
// made with one project answers the requests of another, and names neither.
func withoutAccount(path string) string {
	return vertexAccount.ReplaceAllString(path, "$1")
}
