package call

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
)

// A shape is what an SDK's error says, read from its methods and exported
// fields: the SDKs have no type in common, and none is imported here.
type shape struct {
	status int         // 400..599; 0 if it has none
	code   string      // the server's own
	header http.Header // of the answer
	body   []byte      // of the answer, or as much of it as the error has kept
}

// readShape never panics, whatever the error's methods do.
func readShape(err error) (s shape) {
	defer func() {
		if recover() != nil {
			s = shape{}
		}
	}()
	v := reflect.ValueOf(err)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return s
		}
		v = v.Elem()
	}
	if s.status = statusOf(err, v); s.status == 0 || v.Kind() != reflect.Struct {
		return s
	}
	s.header = headerOf(v)
	for _, name := range []string{"Code", "Type", "Status"} {
		if t := textOf(v, name); t != "" && s.code == "" && t != fmt.Sprint(s.status) {
			s.code = t
		}
	}
	s.body = bodyOf(err, v)
	return s
}

func statusOf(err error, v reflect.Value) int {
	n := 0
	switch e := err.(type) {
	case interface{ StatusCode() int }:
		n = e.StatusCode()
	case interface{ HTTPStatusCode() int }:
		n = e.HTTPStatusCode()
	case interface{ HTTPCode() int }:
		n = e.HTTPCode()
	}
	if isFailure(n) || v.Kind() != reflect.Struct {
		return failureOr0(n)
	}
	for _, name := range []string{"StatusCode", "HTTPStatusCode", "HTTPStatus", "Status", "Code"} {
		f := field(v, name)
		if f.IsValid() && f.CanInt() && isFailure(int(f.Int())) {
			return int(f.Int())
		}
	}
	return 0
}

func isFailure(status int) bool { return status >= 400 && status <= 599 }

func failureOr0(status int) int {
	if isFailure(status) {
		return status
	}
	return 0
}

// field returns an exported field, with pointers and interfaces followed; the
// zero Value if there is none, or nothing in it.
func field(v reflect.Value, name string) reflect.Value {
	t, ok := v.Type().FieldByName(name)
	if !ok || !t.IsExported() {
		return reflect.Value{}
	}
	f, err := v.FieldByIndexErr(t.Index)
	if err != nil {
		return reflect.Value{}
	}
	for f.Kind() == reflect.Pointer || f.Kind() == reflect.Interface {
		if f.IsNil() {
			return reflect.Value{}
		}
		f = f.Elem()
	}
	return f
}

func textOf(v reflect.Value, name string) string {
	if f := field(v, name); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// headerOf finds an answer's header: in the error itself, or in the answer
// that it keeps.
func headerOf(v reflect.Value) http.Header {
	if h, ok := valueOf(v, "Header").(http.Header); ok {
		return h
	}
	if r, ok := valueOf(v, "Response").(http.Response); ok {
		return r.Header
	}
	return nil
}

func valueOf(v reflect.Value, name string) any {
	f := field(v, name)
	if !f.IsValid() || !f.CanInterface() {
		return nil
	}
	return f.Interface()
}

// bodyOf is the answer's body, or one made of the fields that the SDK read it
// into.
func bodyOf(err error, v reflect.Value) []byte {
	if e, ok := err.(interface{ RawJSON() string }); ok {
		if raw := e.RawJSON(); raw != "" {
			return wrapped([]byte(raw))
		}
	}
	switch b := valueOf(v, "Body").(type) {
	case []byte:
		return b
	case string:
		return []byte(b)
	}
	fields := map[string]any{}
	for name, key := range map[string]string{"Code": "code", "Type": "type", "Status": "status", "Message": "message", "Details": "details"} {
		if f := valueOf(v, name); f != nil {
			fields[key] = f
		}
	}
	if len(fields) == 0 {
		return nil
	}
	body, e := json.Marshal(map[string]any{"error": fields})
	if e != nil {
		return nil
	}
	return body
}

// wrapped puts what SDKs keep of a body, the object in "error", back into
// place.
func wrapped(raw []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m["error"] != nil {
		return raw
	}
	return append(append([]byte(`{"error":`), raw...), '}')
}
