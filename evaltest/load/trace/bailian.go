package trace

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func readBailian(s *source, emit func(raw) bool) error {
	var o objectReader
	session := map[string]string{} // by chat_id, of the root
	return s.jsonLines(func(line int, text []byte) (bool, error) {
		r := mooncakeRow{raw: raw{Row: Row{Line: line, BlockTokens: s.o.BlockTokens}}}
		var chat, parent string
		err := o.read(text, func(name string, v jsontext.Value) (err error) {
			switch name {
			case "chat_id":
				chat, err = nameOf(v)
			case "parent_chat_id":
				parent, err = nameOf(v)
			case "timestamp":
				var text string
				if text, err = numberOf(v); err == nil {
					r.Timed = true
					r.abs, err = parseTime(text, time.Second)
				}
			case "input_length", "output_length", "hash_ids":
				err = s.mooncakeField(&r, name, v)
			default:
				s.unread.add(name)
			}
			return err
		})
		switch {
		case err != nil:
			return false, err
		case chat == "" || parent == "":
			return false, fmt.Errorf("%w: the row has no chat_id or no parent_chat_id", ErrColumn)
		case !r.Timed:
			return false, fmt.Errorf("%w: the row has no timestamp", ErrColumn)
		}
		if err := needLengths(&r); err != nil {
			return false, err
		}
		if err := checkHashes(&r.Row, s.rep); err != nil {
			return false, err
		}
		root, known := session[parent]
		if !known {
			root = chat
			if parent != "-1" {
				s.rep.Orphans++
			}
		}
		session[chat], r.Session = root, root
		return emit(r.raw), nil
	})
}
