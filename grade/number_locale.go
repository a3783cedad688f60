package grade

import (
	"fmt"
	"sort"
	"strings"
)

// A locale says how numbers are written.
type locale struct {
	name    string
	decimal byte
	// groups are the thousands separators; groups have three digits each.
	groups string
	// lakh allows Indian groups as well: 12,34,567.
	lakh bool
}

var (
	localeDot    = locale{name: "en", decimal: '.', groups: ", '_"}
	localeComma  = locale{decimal: ',', groups: ". '_"}
	localeSpace  = locale{decimal: ',', groups: " '_"}
	localeQuote  = locale{decimal: '.', groups: " '_"}
	localeIndian = locale{decimal: '.', groups: ", '_", lakh: true}
)

// locales are the known ones. A name with a region that is not listed ("de-AT")
// is its language.
var locales = map[string]locale{
	"en": localeDot, "zh": localeDot, "ja": localeDot, "ko": localeDot, "th": localeDot, "he": localeDot, "sw": localeDot, "ar": localeDot,
	"de": localeComma, "es": localeComma, "it": localeComma, "pt": localeComma, "nl": localeComma, "da": localeComma, "id": localeComma,
	"tr": localeComma, "el": localeComma, "ro": localeComma, "hr": localeComma, "sl": localeComma, "vi": localeComma, "sr": localeComma,
	"fr": localeSpace, "ru": localeSpace, "uk": localeSpace, "pl": localeSpace, "cs": localeSpace, "sk": localeSpace, "sv": localeSpace,
	"nb": localeSpace, "no": localeSpace, "nn": localeSpace, "fi": localeSpace, "hu": localeSpace, "bg": localeSpace,
	"ch": localeQuote, "de-ch": localeQuote, "fr-ch": localeQuote, "it-ch": localeQuote,
	"in": localeIndian, "en-in": localeIndian, "hi": localeIndian, "bn": localeIndian, "te": localeIndian, "ta": localeIndian,
	"es-mx": localeDot, "es-us": localeDot,
}

// findLocale returns the locale called name.
func findLocale(name string) (locale, error) {
	key := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	l, ok := locales[key]
	if !ok {
		lang, _, _ := strings.Cut(key, "-")
		l, ok = locales[lang]
	}
	if !ok || key == "" {
		var known []string
		for k := range locales {
			known = append(known, k)
		}
		sort.Strings(known)
		return locale{}, fmt.Errorf("unknown locale %q (known: %s)", name, strings.Join(known, ", "))
	}
	l.name = key
	return l, nil
}
