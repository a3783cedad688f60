package evaltest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
)

// fieldModel is the fingerprint's field that only the answers tell.
const fieldModel = "model"

// fingerprintOf is what of a run's fingerprint has no field of its own in the
// journal's header.
func fingerprintOf(s *settings, ds *dataset.Dataset, strategy run.Strategy) map[string]string {
	f := map[string]string{"evals": toolVersion()}
	if s.baseline != "" {
		// Else the file's hash and the first request do: to look at every item
		// takes time in which others ask.
		f[gate.FieldItems] = hashItems(ds)
		if hash := hashRequests(ds, strategy); hash != "" {
			f[gate.FieldRequests] = hash
		}
	}
	if s.judgeIncorrect {
		f["judging of incorrect answers"] = "on"
	}
	first := firstByID(ds)
	if hash := run.FingerprintOf(strategy, first); hash != "" {
		f[gate.FieldRequest] = hash
	}
	if text := requestSettings(strategy, first); text != "" {
		f["request settings"] = text
	}
	return f
}

// firstByID is the same item in whatever order they come.
func firstByID(ds *dataset.Dataset) dataset.Item {
	first := ds.At(0)
	for it := range ds.All() {
		if it.ID < first.ID {
			first = it
		}
	}
	return first
}

// requestSettings is all of the first item's request but what it says: the
// prompt is in the request's hash, and settings are worth reading.
func requestSettings(strategy run.Strategy, item dataset.Item) string {
	req, ok := run.RequestOf(strategy, item)
	if !ok {
		return ""
	}
	req.Messages, req.Tools, req.Schema = nil, nil, nil
	req.Extra = nil // may hold what must not be written down
	b, err := json.Marshal(req)
	if err != nil {
		return ""
	}
	return strings.Replace(strings.Replace(string(b), `"messages":null,`, "", 1), `"messages":null`, "", 1)
}

// hashItems hashes what is asked and wanted.
func hashItems(ds *dataset.Dataset) string {
	var sum unordered
	for it := range ds.All() {
		var buf []byte
		buf = appendTexts(buf, it.ID, it.Input, it.Target, it.Group)
		buf = appendTexts(buf, it.Targets...)
		buf = appendTexts(buf, it.Choices...)
		sum.add(append(buf, it.Raw...))
	}
	return sum.String()
}

// hashRequests hashes what the strategy asks about each item: a prompt may
// differ between them. "" if it does not say it of all.
func hashRequests(ds *dataset.Dataset, strategy run.Strategy) string {
	var sum unordered
	for it := range ds.All() {
		hash := run.FingerprintOf(strategy, it)
		if hash == "" {
			return ""
		}
		sum.add(appendTexts(nil, it.ID, hash))
	}
	return sum.String()
}

func appendTexts(buf []byte, texts ...string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(texts)))
	for _, s := range texts {
		buf = append(binary.AppendUvarint(buf, uint64(len(s))), s...)
	}
	return buf
}

// An unordered is a hash of things whose order does not matter: items are
// compared by id.
type unordered [4]uint64

func (u *unordered) add(b []byte) {
	h := sha256.Sum256(b)
	for i := range u {
		u[i] += binary.BigEndian.Uint64(h[8*i:])
	}
}

func (u *unordered) String() string {
	var buf []byte
	for _, v := range u {
		buf = binary.BigEndian.AppendUint64(buf, v)
	}
	return hex.EncodeToString(buf[:16])
}

// toolVersion is this library's, as the test's module requires it.
func toolVersion() string {
	const path = "github.com/goevals/evals"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

// lateFingerprint is what the answers tell.
func lateFingerprint(s *report.Stats) map[string]string {
	if len(s.Models) == 0 {
		return nil
	}
	return map[string]string{fieldModel: strings.Join(slices.Sorted(maps.Keys(s.Models)), ", ")}
}

// wholeFingerprint is all of it: with what the end told, once there is one.
func wholeFingerprint(h result.Header, late map[string]string) map[string]string {
	f := gate.FingerprintOf(h)
	maps.Copy(f, late)
	return f
}
