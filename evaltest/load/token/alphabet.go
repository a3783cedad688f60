package token

// Byte-level vocabularies spell each byte as a printable character: the bytes
// that are printable in Latin-1 as themselves, the others, in order, as U+0100
// and on.

// alphabet maps those characters below U+0144 to their bytes, and all others
// to -1.
var alphabet = func() (to [0x144]int16) {
	next := 0x100
	for i := range to {
		to[i] = -1
	}
	for b := range 0x100 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			to[b] = int16(b)
		} else {
			to[next] = int16(b)
			next++
		}
	}
	return to
}()

// unspell returns the bytes that s spells, or false if it has a character that
// is not in the alphabet.
func unspell(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		if int(r) >= len(alphabet) || alphabet[r] < 0 {
			return "", false
		}
		out = append(out, byte(alphabet[r]))
	}
	return string(out), true
}
