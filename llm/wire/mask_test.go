package wire_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

func TestMask(t *testing.T) {
	rows := []struct{ name, in, secret, want string }{
		{"plain", "the key hunter2hunter2 is wrong", "hunter2hunter2", "the key [masked] is wrong"},
		{"URL", `Post "https://h/x?a=1&key=a%2Fb%2Bc%3D": EOF`, "a/b+c=", `Post "https://h/x?a=1&key=[masked]": EOF`},
		{"JSON", `{"k":"a\"b\u003cc"}`, `a"b<c`, `{"k":"[masked]"}`},
		{"bearer unknown", "Authorization: Bearer abc.def-ghi", "", "Authorization: Bearer [masked]"},
		{"parameter unknown", "https://h/x?key=zzz&b=1", "", "https://h/x?key=[masked]&b=1"},
		{"header unknown", "X-Api-Key: abcdefghijk", "", "X-Api-Key: [masked]"},
		{"OpenAI shape", "Incorrect API key provided: sk-proj-0123456789abcdefXYZ.", "", "Incorrect API key provided: [masked]."},
		{"Google shape", "API key AIzaSyA0123456789012345678901 expired", "", "API key [masked] expired"},
		{"nothing", "all is well", "", "all is well"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, wire.Mask(r.in, r.secret))
		})
	}
}

func TestSecrets(t *testing.T) {
	req, err := http.NewRequest("GET", "https://user:passpass@h/x?key=querysecret&q=harmless", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer bearersecret")
	req.Header.Set("X-Goog-Api-Key", "googlesecret")
	req.Header.Set("Api-Key", "azuresecret")
	req.Header.Set("X-Api-Key", "x") // a local server's
	req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:basicsecret")))
	got := wire.Secrets(req)
	for _, want := range []string{"bearersecret", "googlesecret", "azuresecret", "basicsecret", "querysecret", "passpass"} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "harmless")
	assert.NotContains(t, got, "x", "a placeholder stands in any text")
}

func TestMaskError(t *testing.T) {
	inner := &url.Error{Op: "Post", URL: "https://h/x?key=topsecret", Err: context.Canceled}
	err := wire.MaskError(fmt.Errorf("calling: %w", inner), "topsecret")
	assert.NotContains(t, err.Error(), "topsecret")
	assert.NotContains(t, fmt.Sprintf("%+v", err), "topsecret")
	require.ErrorIs(t, err, context.Canceled)
	assert.NoError(t, errors.Unwrap(err), "who walks the tree must not find the text")
	plain := errors.New("plain")
	assert.Same(t, plain, wire.MaskError(plain, "topsecret"))
	assert.NoError(t, wire.MaskError(nil, "x"))
}

// TestNoKeyIsShown sends keys in every place and has the server echo them.
func TestNoKeyIsShown(t *testing.T) {
	const bearer, query = "bearer-secret-1", "query-secret-2"
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":"bad key %s, %s"}`, r.Header.Get("Authorization"), r.URL.Query().Get("key"))
	}
	var c wire.Capture
	ctx := wire.WithCapture(t.Context(), &c)
	send := func(rt http.RoundTripper) error {
		req, err := http.NewRequestWithContext(ctx, "POST", chatURL+"?key="+query, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+bearer)
		resp, err := rt.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	clean := func(s string) {
		t.Helper()
		assert.NotContains(t, s, bearer)
		assert.NotContains(t, s, query)
	}
	require.NoError(t, send(wire.Transport{Base: &llmtest.Memory{Handler: http.HandlerFunc(echo)}}))
	clean(fmt.Sprintf("%+v", c.Get()))
	clean(string(c.Get().Body))
	assert.Contains(t, string(c.Get().Body), "bad key Bearer [masked], [masked]")
	assert.Equal(t, "Bearer [masked]", c.Get().Header.Get("X-Echo"))
	err := send(wire.Transport{Base: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("dial %s with %s", r.URL, r.Header.Get("Authorization"))
	})})
	require.Error(t, err)
	clean(err.Error())
	clean(c.Get().Err.Error())
}
