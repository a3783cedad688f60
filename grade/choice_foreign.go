package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreignStems begin the words for answer, option and letter in languages
// other than English, in lower case. A suffix may follow: svaret, jawabannya.
var foreignStems = []string{
	"antwort", "lösung", "auswahl", "respuesta", "opción", "alternativa", "letra", "réponse", "reponse", "lettre", "risposta",
	"opzione", "lettera", "resposta", "opção", "antwoord", "odpowied", "odpověď", "odpoveď", "cevap", "cevab", "seçenek", "şık",
	"svar", "vastaus", "válasz", "jibu", "jawaban", "απάντηση", "επιλογή", "đáp án", "lựa chọn", "răspuns",
	"ответ", "вариант", "відповідь", "варіант", "الإجابة", "الجواب", "إجابة", "جواب", "الخيار", "उत्तर", "विकल्प", "জবাব", "উত্তর",
	"תשובה", "پاسخ", "گزینه", "คำตอบ", "ตัวเลือก", "ข้อ", "பதில்", "సమాధానం",
}

// foreignNot denies in those languages.
var foreignNot = wordSet(`nicht kein keine keiner no non nunca ne pas aucune aucun não nem niet geen nie żadna není ne neni değil yok
	inte ej ikke ei nem bukan tidak không nu не ни ليس ليست لا नहीं לא نیست ไม่ falsch falsche incorrecta incorrecto
	errónea fausse mauvaise sbagliata errata errada incorreta fout foute błędna chybná yanlış fel feil forkert väärä helytelen salah sai
	greșit неверный неправильный خطأ गलत`)

// foreignMarks finds those words where a capital letter follows within a few
// words: "svaret är B", "Poprawna odpowiedź to B", "सही उत्तर B है".
func foreignMarks(t string) []answerMark {
	const far = 64
	var marks []answerMark
	low := strings.ToLower(t)
	if len(low) != len(t) {
		low = t // a letter whose lower case has another length: rare
	}
	for at := 0; at < len(low); {
		r, size := utf8.DecodeRuneInString(low[at:])
		if !unicode.IsLetter(r) {
			at += size
			continue
		}
		end := letterEnd(low, at)
		if stem := foreignStem(low[at:]); stem != "" {
			wide := t[max(0, at-far):at]
			if k := strings.LastIndexAny(wide, ".!?;,\n"); k >= 0 {
				wide = wide[k+1:]
			}
			from := max(end, at+len(stem))
			if n, ok := foreignLetter(t[from:min(len(t), from+far)]); ok && !foreignDenied(wide) {
				marks = append(marks, answerMark{kind: markIs, name: stem, start: at, end: from + n, stop: len(t)})
			}
		}
		at = end
	}
	return marks
}

func foreignStem(low string) string {
	if low[0] == 'a' && !strings.HasPrefix(low, "an") && !strings.HasPrefix(low, "al") {
		return ""
	}
	for _, s := range foreignStems {
		if strings.HasPrefix(low, s) {
			return s
		}
	}
	return ""
}

func letterEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWordRune(r) {
			break
		}
		i += size
	}
	return i
}

func foreignDenied(words string) bool {
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if foreignNot[strings.Trim(w, `"'*_(`)] {
			return true
		}
	}
	return false
}

// foreignLetter returns where a capital letter stands in s, behind at most
// four words none of which denies.
func foreignLetter(s string) (at int, ok bool) {
	for range 5 {
		at += len(s[at:]) - len(strings.TrimLeft(s[at:], " \t\"'*_([{:=-–—$\\"))
		if at == len(s) {
			return 0, false
		}
		end := letterEnd(s, at)
		word := s[at:end]
		switch {
		case end == at:
			return 0, false
		case end == at+1 && isUpper(s[at]):
			// An article may stand before the letter: "é a B" is no case, "A B" is none.
			return at, true
		case foreignNot[strings.ToLower(word)]:
			return 0, false
		}
		at = end
	}
	return 0, false
}
