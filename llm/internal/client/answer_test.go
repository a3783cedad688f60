package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/internal/jsonlist"
)

func TestNotJSON(t *testing.T) {
	for _, row := range []struct {
		name, reason, data string
		whole              bool
		want               error
	}{
		{"page", "shown as it came", "<html>", true, &client.NoAnswer{Body: []byte("<html>"), Why: "the body is not JSON"}},
		{"cut body", "a whole body has been read to its end", `{"a":`, true, &client.NoAnswer{Body: []byte(`{"a":`), Why: "the body is not JSON"}},
		{"words in a stream", "they may be an error's", "overloaded", false, &client.NoAnswer{Body: []byte("overloaded"), IsError: true, Why: "an event of the stream is not JSON"}},
		{"cut event", "the connection broke", `{"a":`, false, io.ErrUnexpectedEOF},
		{"two events in one", "nothing is missing", `{} {}`, false, &client.NoAnswer{Body: []byte("{} {}"), IsError: true, Why: "an event of the stream is not JSON"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, client.NotJSON([]byte(row.data), row.whole), row.reason)
		})
	}
}

func TestUnread(t *testing.T) {
	odd := client.OddField("choices", json.RawMessage(`1`), "a list")
	var asOdd *client.Odd
	assert.ErrorAs(t, odd, &asOdd)
	other := errors.New("other")
	for _, row := range []struct {
		name, reason string
		err, want    error
	}{
		{"none", "nothing went wrong", nil, nil},
		{"odd", "it says which field", fmt.Errorf("choice 1: %w", odd), asOdd.NoAnswer()},
		{"too long", "no fault of the connection", jsonlist.ErrTooLong, &client.NoAnswer{Why: "the answer has " + jsonlist.ErrTooLong.Error()}},
		{"cut", "the connection's", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{"other", "kept", other, other},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, client.Unread(row.err), row.reason)
		})
	}
}
