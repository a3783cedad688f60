package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Hub is where repositories of tokenizers come from: a cache folder as
// Hugging Face's libraries lay it out, and a server for what is not in it. The
// zero value is the public hub without a token; [HubFromEnv] is what most want.
type Hub struct {
	// Cache is the folder that holds models--ORG--NAME. Default: the one that
	// [HubFromEnv] finds.
	Cache string
	// Endpoint is the server. Default: https://huggingface.co. User and
	// password in it are kept out of errors.
	Endpoint string
	// Token is sent to Endpoint as a bearer token, and to no other server that
	// it redirects to. Default: none.
	Token string
	// Offline keeps to the cache.
	Offline bool
	// MaxBytes is the size at which a download is given up. Default: 256 MiB.
	MaxBytes int64
	// Client makes the requests; its CheckRedirect is not used. Default: a
	// client with the proxies of the environment. A download may take 5
	// minutes.
	Client *http.Client
}

const publicHub = "https://huggingface.co"

// HubFromEnv returns the hub that the environment describes, as Hugging Face's
// libraries read it: HF_HUB_CACHE, or else the folder hub in HF_HOME, or else
// in huggingface in XDG_CACHE_HOME, or else in ~/.cache/huggingface;
// HF_ENDPOINT; HF_TOKEN; HF_HUB_OFFLINE, which 1, ON, YES and TRUE switch on.
// getenv is os.Getenv outside tests.
func HubFromEnv(getenv func(string) string) Hub {
	h := Hub{Endpoint: getenv("HF_ENDPOINT"), Token: strings.TrimSpace(getenv("HF_TOKEN"))}
	switch strings.ToUpper(getenv("HF_HUB_OFFLINE")) {
	case "1", "ON", "YES", "TRUE":
		h.Offline = true
	}
	switch cache, home, xdg := getenv("HF_HUB_CACHE"), getenv("HF_HOME"), getenv("XDG_CACHE_HOME"); {
	case cache != "":
		h.Cache = cache
	case home != "":
		h.Cache = filepath.Join(home, "hub")
	case xdg != "":
		h.Cache = filepath.Join(xdg, "huggingface", "hub")
	default:
		user := getenv("HOME")
		if user == "" {
			user, _ = os.UserHomeDir()
		}
		h.Cache = filepath.Join(user, ".cache", "huggingface", "hub")
	}
	return h
}

// Load returns the tokenizer of that name: a file or folder if there is one
// ([Open]), else an encoding or a model of OpenAI ([Encoding]), else the
// repository of the hub with that id ([Hub.Fetch]). A path wins over an id of
// the same spelling.
func Load(ctx context.Context, name string, hub Hub) (Tokenizer, error) {
	if name == "" {
		return nil, errors.New("token: no tokenizer is named: give a tokenizer.json or its folder, an encoding such as o200k_base, or the id of a repository")
	}
	if _, err := os.Stat(name); err == nil {
		return Open(name)
	}
	t, unknown := Encoding(name)
	if unknown == nil {
		return t, nil
	}
	if _, _, err := splitID(name); err != nil {
		return nil, fmt.Errorf("token: %q is no file or folder; %w; %w", name, unknown, err)
	}
	path, err := hub.Fetch(ctx, name)
	if err != nil {
		if !strings.Contains(name, "/") { // more likely the name of a model
			return nil, fmt.Errorf("%w; %w", unknown, err)
		}
		return nil, err
	}
	t, err = Open(path)
	if err != nil {
		return nil, err
	}
	t.(*bpe).name = name
	return t, nil
}

// ErrID is what errors are about ids that the hub does not have by its rules.
var ErrID = errors.New("not the id of a repository")

var (
	idPart       = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$`)
	revisionPart = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]*$`)
	commitHash   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// splitID takes ORG/NAME@REVISION apart and checks it: it becomes part of
// paths and of a URL. ORG/ and @REVISION may be missing; the revision is main
// then.
func splitID(id string) (repo, revision string, err error) {
	repo, revision, found := strings.Cut(id, "@")
	if !found {
		revision = "main"
	}
	parts := strings.Split(repo, "/")
	bad := len(parts) > 2 || len(repo) > 96 || strings.HasSuffix(repo, ".git")
	for _, p := range parts {
		// "--" separates the parts in the cache.
		bad = bad || !idPart.MatchString(p) || strings.Contains(p, "--") || strings.Contains(p, "..")
	}
	if bad {
		return "", "", fmt.Errorf("%w: %s: want ORG/NAME, each of letters, digits and single . _ - between", ErrID, quote(id))
	}
	bad = len(revision) > 200
	for p := range strings.SplitSeq(revision, "/") {
		bad = bad || !revisionPart.MatchString(p) || strings.Contains(p, "..") || strings.HasSuffix(p, ".") || strings.HasSuffix(p, ".lock")
	}
	if bad {
		return "", "", fmt.Errorf("%w: %s: the revision behind @ is no branch, tag or commit", ErrID, quote(id))
	}
	return repo, revision, nil
}

// A HubError is why a repository's tokenizer.json is not to be had.
type HubError struct {
	ID     string // as it was asked for
	URL    string // that was asked, without user and query; "" if none was
	Status int    // of the last answer; 0 if there was none
	Err    error
}

// ErrOffline: the file is not in the cache, and HF_HUB_OFFLINE or [Hub.Offline]
// forbids to ask for it.
var ErrOffline = errors.New("not in the cache, and the hub may not be asked: it is offline")

// Error says what failed and what to do.
func (e *HubError) Error() string {
	s := "token: " + e.ID + ": "
	if e.URL != "" {
		s += e.URL + ": "
	}
	s += e.Err.Error()
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		s += "; there is no such repository, or it is private or gated: set HF_TOKEN to a token that may read it"
	case e.Status == http.StatusNotFound:
		s += "; the repository, the revision or its " + fileName + " does not exist"
	case errors.Is(e.Err, ErrOffline):
		s += "; unset HF_HUB_OFFLINE, or give the path of a " + fileName
	}
	return s
}

// Unwrap returns e.Err.
func (e *HubError) Unwrap() error { return e.Err }

// Fetch returns the path of the tokenizer.json of a repository: ORG/NAME, or
// ORG/NAME@REVISION with a branch, tag or commit; main if none is given.
//
// A copy in the cache is used without asking the server, even for a branch
// that has moved on: the same name gives the same counts until the copy is
// deleted. What is not there is downloaded to a temporary file, checked to be
// JSON, and renamed, so that no partial file is ever seen, and lies where
// Hugging Face's libraries find it. Safe for concurrent use, from several
// processes too.
//
// Errors are [*HubError]s, or say that the id is none ([ErrID]).
func (h Hub) Fetch(ctx context.Context, id string) (string, error) {
	repo, revision, err := splitID(id)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if h.Cache == "" {
		h.Cache = HubFromEnv(os.Getenv).Cache
	}
	folder := filepath.Join(h.Cache, "models--"+strings.ReplaceAll(repo, "/", "--"))
	ref := filepath.Join(folder, "refs", filepath.FromSlash(revision))
	commit := ""
	if commitHash.MatchString(revision) {
		commit = revision
	} else if data, err := os.ReadFile(ref); err == nil {
		// Content that is no hash is not trusted: it would become a path.
		if c := strings.TrimSpace(string(data)); commitHash.MatchString(c) {
			commit = c
		}
	}
	for _, snapshot := range []string{commit, revision} {
		path := filepath.Join(folder, "snapshots", filepath.FromSlash(snapshot), fileName)
		if info, err := os.Stat(path); snapshot != "" && err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if h.Offline {
		return "", &HubError{ID: id, Err: fmt.Errorf("%w (looked in %s)", ErrOffline, folder)}
	}
	want := revision
	if commit != "" {
		want = commit // so that the file fits what else of the repository is in the cache
	}
	return h.download(ctx, id, place{repo: repo, revision: want, folder: folder, ref: ref, pinned: commit != ""})
}
