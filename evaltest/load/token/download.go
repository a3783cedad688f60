package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	downloadTimeout = 5 * time.Minute
	maxRedirects    = 10
)

// A place is what to download and where to.
type place struct {
	repo, revision string
	folder, ref    string
	pinned         bool // the revision is a commit, and ref stays as it is
}

var errTooLarge = errors.New("the file is too large")

// download puts the file in its place and returns the path.
func (h Hub) download(ctx context.Context, id string, p place) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	endpoint := h.Endpoint
	if endpoint == "" {
		endpoint = publicHub
	}
	start, err := url.Parse(strings.TrimRight(endpoint, "/"))
	if err != nil || start.Host == "" || start.Scheme != "http" && start.Scheme != "https" {
		return "", &HubError{ID: id, Err: errors.New("HF_ENDPOINT is not an http or https URL")} // its text may hold a password
	}
	start = start.JoinPath(p.repo, "resolve", url.PathEscape(p.revision), fileName)
	fail := func(at *url.URL, status int, err error) (string, error) {
		return "", &HubError{ID: id, URL: shown(at), Status: status, Err: err}
	}
	resp, at, commit, err := h.follow(ctx, start)
	if err != nil {
		return fail(at, 0, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fail(at, resp.StatusCode, fmt.Errorf("status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	}
	data, err := h.body(resp)
	if err != nil {
		return fail(at, resp.StatusCode, err)
	}
	path, err := p.store(data, commit)
	if err != nil {
		return fail(at, resp.StatusCode, fmt.Errorf("cannot write the cache: %w", err))
	}
	return path, nil
}

// follow asks for the file. It goes after redirects itself: net/http would
// send the token on to subdomains and other ports, and would not show the
// header of the first answer, which names the commit.
func (h Hub) follow(ctx context.Context, start *url.URL) (resp *http.Response, at *url.URL, commit string, err error) {
	client := http.Client{}
	if h.Client != nil {
		client = *h.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	at = start
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, at, "", plainError(err)
		}
		if at.Scheme == start.Scheme && at.Host == start.Host {
			if h.Token != "" {
				req.Header.Set("Authorization", "Bearer "+h.Token)
			}
		} else {
			req.URL.User = nil
		}
		resp, err = client.Do(req)
		if err != nil {
			return nil, at, "", plainError(err)
		}
		if c := resp.Header.Get("X-Repo-Commit"); at.Host == start.Host && commitHash.MatchString(c) {
			commit = c
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || location == "" {
			return resp, at, commit, nil
		}
		resp.Body.Close()
		next, err := at.Parse(location)
		if err != nil || next.Host == "" || next.Scheme != "https" && next.Scheme != at.Scheme {
			return nil, at, "", errors.New("the server redirects to what is no URL, or away from https")
		}
		at = next
	}
	return nil, at, "", fmt.Errorf("more than %d redirects", maxRedirects)
}

// body reads the file whole: it is not stored before it is known to be JSON.
func (h Hub) body(resp *http.Response) ([]byte, error) {
	most := h.MaxBytes
	if most <= 0 {
		most = maxFile
	}
	if resp.ContentLength > most {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are taken", errTooLarge, resp.ContentLength, most)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("after %d bytes: %w", len(data), plainError(err))
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%w: at most %d bytes are taken", errTooLarge, most)
	case !json.Valid(data):
		return nil, fmt.Errorf("%w: the answer is not JSON", ErrDamaged)
	}
	return data, nil
}

// store writes the file, and which commit a branch was at.
func (p place) store(data []byte, commit string) (string, error) {
	snapshot := p.revision
	if !p.pinned && commit != "" {
		snapshot = commit
	}
	path := filepath.Join(p.folder, "snapshots", filepath.FromSlash(snapshot), fileName)
	if err := writeFile(path, data); err != nil {
		return "", err
	}
	if snapshot == commit && !p.pinned {
		return path, writeFile(p.ref, []byte(commit))
	}
	return path, nil
}

// writeFile writes to a temporary file beside path and renames it.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".token-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(data)
	if err == nil {
		_ = f.Chmod(0o644) // a cache may be shared
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// plainError takes the URL out of an error: it may hold a password, or a
// signature in its query.
func plainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// shown is a URL without what may be secret in it.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).Redacted()
}
