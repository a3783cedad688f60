package grade

import "testing"

// The rows below are the kinds of the shared cases, in words of our own: one
// input of each kind as it was reported, and the variations that a rule which
// was fitted to that input would miss.

func TestNumericPercentAndUnits(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "percent", reason: "the sign is a unit, the value is 20", response: "A fifth of 100 seats.\nANSWER: 20%", target: "20", want: Correct, answer: "20%"},
		{name: "percent, earlier number", reason: "no fall back to 100", response: "A fifth of 100 seats.\nANSWER: 20%", target: "100", want: Incorrect, answer: "20%"},
		{name: "percent is not rescaled", reason: "0.2 is another answer", response: "ANSWER: 20%", target: "0.2", want: Incorrect, answer: "20%"},
		{name: "percent without marker", reason: "the last number keeps its unit", response: "So 4/20 of the 60 remain, that is 60%.", target: "60", want: Correct, answer: "60%"},
		{name: "percent apart", reason: "a blank before the sign", response: "It is 20 %.", target: "20", want: Correct, answer: "20 %"},
		{name: "percent in LaTeX", reason: "escaped sign", response: `\boxed{18\%}`, target: "18", want: Correct, answer: `18\%`},
		{name: "percent word", reason: "spelled out", response: "The answer is 20 percent.", target: "20", want: Correct},
		{name: "percent target", reason: "the target may carry the sign too", response: "Answer: 20", target: "20%", want: Correct},
		{name: "unit word", reason: "GSM8K answers have units", response: "#### 18 dollars", target: "18", want: Correct, answer: "18"},
		{name: "glued unit", reason: "18km is 18 with a unit", response: "She walks 18km.", target: "18", want: Correct, answer: "18km"},
		{name: "unit per unit", reason: "the slash is no fraction", response: "The answer is $10/hour", target: "10", want: Correct},
		{name: "degrees", reason: "the sign is a unit", response: "It is 90°.", target: "90", want: Correct},
		{name: "square metres", reason: "the raised 2 is part of the unit", response: "The area is 18 m².", target: "18", want: Correct},
		{name: "square metres, tag", reason: "the raised 2 is part of the unit", response: "The area is 18 m<sup>2</sup>.", target: "18", want: Correct},
		{name: "square metres, caret", reason: "the raised 2 is part of the unit", response: "The area is 18 m^2.", target: "18", want: Correct},
		{name: "square metres, LaTeX", reason: "the raised 2 is part of the unit", response: `The area is $18 \text{ m}^2$.`, target: "18", want: Correct},
		{name: "cubic, braces", reason: "the raised 3 is part of the unit", response: `\boxed{18\ \mathrm{cm}^{3}}`, target: "18", want: Correct},
		{name: "million", reason: "a scale word belongs to the number", response: "The answer is 2 million.", target: "2000000", want: Correct, answer: "2 million"},
		{name: "million, bare digit", reason: "2 million is not 2", response: "The answer is 2 million.", target: "2", want: Incorrect},
		{name: "decimal million", reason: "exact scaling", response: "It costs $1.5 million", target: "1,500,000", want: Correct},
		{name: "million in a box", reason: "a scale inside text", response: `\boxed{2 \text{ million}}`, target: "2000000", want: Correct},
		{name: "million behind a box", reason: "the box holds only part", response: `\boxed{2} million`, target: "2", want: Unparsed, why: ReasonAmbiguous},
		{name: "thousands letter", reason: "5k is 5000", response: "Answer: $5k", target: "5000", want: Correct},
		{name: "thousands letter, digit", reason: "5k is not 5", response: "Answer: 5k", target: "5", want: Incorrect},
		{name: "dozen is a unit", reason: "how many dozens?", response: "Answer: 5 dozen", target: "5", want: Correct},
		{name: "Chinese scale", reason: "5万 is 50000", response: "答案：5万", target: "50000", want: Correct},
		{name: "Chinese scale, digit", reason: "5万 is not 5", response: "答案是5万元", target: "5", want: Incorrect},
		{name: "Chinese unit", reason: "scripts without blanks", response: "答案是18个", target: "18", want: Correct},
		{name: "Korean unit", reason: "scripts without blanks", response: "정답은 18개입니다.", target: "18", want: Correct},
	})
}

func TestNumericPunctuation(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "exclamation", reason: "not a factorial", response: "We get 42!", target: "42", want: Correct},
		{name: "brackets and stop", reason: "edge punctuation", response: "So it has to be (42).", target: "42", want: Correct},
		{name: "square brackets", reason: "not a citation", response: "Result: [42]", target: "42", want: Correct},
		{name: "colon", reason: "edge punctuation", response: "What is it? 42:", target: "42", want: Correct},
		{name: "question mark", reason: "edge punctuation", response: "Is it 42?", target: "42", want: Correct},
		{name: "ellipsis", reason: "edge punctuation", response: "So she earns 18...", target: "18", want: Correct},
		{name: "ellipsis before", reason: "not .18", response: "So she earns ...18", target: "18", want: Correct},
		{name: "quotes", reason: "edge punctuation", response: `The answer is “42”.`, target: "42", want: Correct},
		{name: "comma later", reason: "a bare comma is no number", response: "It comes to 72, in all, so she keeps it.", target: "72", want: Correct},
		{name: "comma and word", reason: "a bare comma is no number", response: "He sells 72 clips, altogether, by May.", target: "72", want: Correct},
		{name: "decimals kept", reason: "(3.14) is not 314", response: "The result is (3.14).", target: "3.14", want: Correct},
		{name: "decimals kept, wrong", reason: "(3.14) is not 314", response: "The result is (3.14).", target: "314", want: Incorrect},
		{name: "letters behind", reason: "42abc is no number", response: "We get 42abc", target: "42", want: Unparsed},
		{name: "letters before", reason: "v42 is no number", response: "We get v42", target: "42", want: Unparsed, why: ReasonNoAnswer},
		{name: "hyphenated word", reason: "COVID-19 is a word", response: "This is due to COVID-19", target: "19", want: Unparsed, why: ReasonNoAnswer},
		{name: "hyphenated word is no minus", reason: "COVID-19 is a word", response: "This is due to COVID-19", target: "-19", want: Unparsed},
		{name: "formula", reason: "H2O is a word", response: "He drank 3 cups of H2O", target: "3", want: Correct},
		{name: "model name", reason: "gpt-4.5 is a word", response: "She needs 18, says gpt-4.5-turbo", target: "18", want: Correct},
		{name: "version", reason: "1.2.3 is no number", response: "Answer: 1.2.3", target: "1.2", want: Unparsed, why: ReasonAmbiguous},
		{name: "url", reason: "digits in an address", response: "She needs 18. See https://example.com/a/99?b=7", target: "18", want: Correct},
		{name: "variable", reason: "2x is a term", response: "Answer: 2x", target: "2", want: Unparsed},
		{name: "backslash pi", reason: "18π is not 18", response: `\boxed{18\pi}`, target: "18", want: Unparsed},
		{name: "root", reason: "√16 is not 16", response: `\boxed{\sqrt{16}}`, target: "16", want: Unparsed},
		{name: "power", reason: "10² is not 10", response: "Answer: 10²", target: "10", want: Incorrect, answer: "10²"},
		{name: "power, caret", reason: "2^3 is neither 2 nor 3", response: "Answer: 2^3", target: "3", want: Unparsed},
	})
}

func TestNumericBounds(t *testing.T) {
	rows := []numericRow{
		{name: "below", reason: "a bound is no value", response: "It must be <42", target: "42", want: Unparsed, why: ReasonAmbiguous},
		{name: "bound of another number", reason: "wrong whatever it bounds", response: "It must be <42", target: "50", want: Incorrect, answer: "<42"},
		{name: "quotation", reason: "markdown quotes with >", response: "The result:\n\n> 42", target: "42", want: Correct},
		{name: "arrow", reason: "-> concludes", response: "6*7 -> 42", target: "42", want: Correct},
		{name: "fat arrow", reason: "=> concludes", response: "6*7 => 42", target: "42", want: Correct},
		{name: "tag", reason: "the > ends a tag", response: "<result>42</result>", target: "42", want: Correct},
		{name: "equals", reason: "= is no bound", response: "= 42", target: "42", want: Correct},
		{name: "variable", reason: "= is no bound", response: "x = 42", target: "42", want: Correct},
		{name: "denied", reason: "not 17", response: "The answer is not 17 but 18.", target: "18", want: Correct},
		{name: "denied, wrong", reason: "not 17", response: "The answer is not 17.", target: "17", want: Unparsed},
		{name: "denied behind", reason: "not 20", response: "It is 18, not 20.", target: "18", want: Correct},
		{name: "instead of", reason: "the other number is denied", response: "It is 18 instead of 20.", target: "20", want: Incorrect},
		{name: "approximate result", reason: "declared: an approximation is not the value", response: "16/3 ≈ 5.33", target: "5.33", want: Unparsed},
		{name: "boxed behind an approximation sign", reason: "the box claims it", response: `x \approx \boxed{5.33}`, target: "5.33", want: Correct},
	}
	for _, op := range []string{">", "<", ">=", "<=", "≥", "≤", "=<", "~", "≈", "±", `\le `, `\geq `, `\approx `, `\sim`, "&lt;", "&ge;", "about ", "at least ", "less than ", "approximately ", "roughly ", "more than $", "nearly ", "up to "} {
		rows = append(rows,
			numericRow{name: "marked " + op, reason: "the operator stays with the number", response: "Answer: " + op + "42", target: "42", want: Unparsed, why: ReasonAmbiguous},
			numericRow{name: "unmarked " + op, reason: "the operator stays with the number", response: "The best bound is " + op + "42", target: "42", want: Unparsed, why: ReasonAmbiguous},
			numericRow{name: "wrapped " + op, reason: "the operator stays with the number", response: "So: " + op + "**42**.", target: "42", want: Unparsed, why: ReasonAmbiguous})
	}
	rows = append(rows, numericRow{name: "plus behind", reason: "42+ is a bound", response: "Answer: 42+", target: "42", want: Unparsed})
	runNumericRows(t, rows)
}

func TestNumericValue(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "suffix", reason: "711 is not 11", response: "ANSWER: 711", target: "11", want: Incorrect},
		{name: "suffix 25", reason: "25 is not 5", response: "The answer is 25", target: "5", want: Incorrect},
		{name: "suffix decimals", reason: "33.14 is not 3.14", response: "x = 33.14", target: "3.14", want: Incorrect},
		{name: "prefix", reason: "118 is not 11", response: "Answer: 118", target: "11", want: Incorrect},
		{name: "price", reason: "29.00 is 29", response: "The bill comes to $29.00.", target: "29", want: Correct, answer: "$29.00"},
		{name: "price, three zeros", reason: "29.000 is 29", response: "The bill comes to $29.000.", target: "29", want: Correct},
		{name: "price, a cent more", reason: "29.01 is not 29", response: "The bill comes to $29.01.", target: "29", want: Incorrect},
		{name: "six digits", reason: "no rounding to five", response: "Answer: 123456", target: "123457", want: Incorrect},
		{name: "beyond float64", reason: "exact", response: "Answer: 9007199254740993", target: "9007199254740992", want: Incorrect},
		{name: "beyond float64, equal", reason: "exact", response: "Answer: 9007199254740993.0", target: "9007199254740993", want: Correct},
		{name: "float trap", reason: "0.1+0.2", response: "Answer: 0.30000000000000004", target: "0.3", want: Incorrect},
		{name: "leading zeros", reason: "values, not texts", response: "Answer: 007", target: "7", want: Correct},
		{name: "no integer part", reason: ".5 is 0.5", response: "Answer: .5", target: "0.5", want: Correct},
		{name: "no fraction part", reason: "5. is 5", response: "Answer: 5.", target: "5", want: Correct},
		{name: "exponent", reason: "1e3 is 1000", response: "Answer: 1e3", target: "1000", want: Correct},
		{name: "exponent, signed", reason: "2.5E-3", response: "Answer: 2.5E-3", target: "0.0025", want: Correct},
		{name: "power of ten", reason: "scientific notation", response: `\boxed{1.8 \times 10^{3}}`, target: "1800", want: Correct},
		{name: "power of ten, raised", reason: "scientific notation", response: "Answer: 3 × 10⁴", target: "30000", want: Correct},
		{name: "huge exponent", reason: "no gigabyte", response: "Answer: 1e999999999", target: "1", want: Unparsed, why: ReasonInvalid},
		{name: "currency behind", reason: "18 €", response: "Antwort: 18 €", target: "18", want: Correct},
		{name: "dollar behind", reason: "18$", response: "Answer: 18$", target: "18", want: Correct},
		{name: "US dollars", reason: "US$18", response: "Answer: US$18", target: "18", want: Correct, answer: "US$18"},
		{name: "escaped dollar", reason: `\$460`, response: `The total is \$460.`, target: "460", want: Correct, answer: `\$460`},
		{name: "code before", reason: "USD 18", response: "Answer: USD 18", target: "18", want: Correct},
		{name: "minus dollar", reason: "-$5", response: "Answer: -$5", target: "-5", want: Correct},
		{name: "dollar minus", reason: "$-5", response: "Answer: $-5", target: "-5", want: Correct},
		{name: "sign kept", reason: "10 is not -10", response: "#### 10", target: "-10", want: Incorrect},
		{name: "sign kept, reversed", reason: "-10 is not 10", response: "#### -10", target: "10", want: Incorrect},
		{name: "minus sign", reason: "U+2212", response: "#### −10", target: "-10", want: Correct},
		{name: "minus apart", reason: "behind a marker a dash is a sign", response: "#### - 10", target: "-10", want: Correct},
		{name: "en dash", reason: "a dash for a minus", response: "The answer is –10.", target: "-10", want: Correct},
		{name: "bullet", reason: "a dash at the start of a line is a bullet", response: "Answer:\n- 18 eggs", target: "18", want: Correct},
		{name: "minus zero", reason: "-0 is 0", response: "Answer: -0", target: "0", want: Correct},
		{name: "plus", reason: "+18 is 18", response: "Answer: +18", target: "18", want: Correct},
		{name: "full-width", reason: "digits of any script", response: "答え：１８", target: "18", want: Correct},
		{name: "Arabic-Indic", reason: "digits of any script", response: "الجواب: ١٨", target: "18", want: Correct},
		{name: "Bengali", reason: "digits of any script", response: "উত্তর: ১৮", target: "18", want: Correct},
		{name: "Devanagari", reason: "digits of any script", response: "उत्तर: १८", target: "18", want: Correct},
		{name: "zero width", reason: "invisible characters", response: "Answer:\u200b 1\u200b8", target: "18", want: Correct},
		{name: "HTML entities", reason: "a blank that is an entity", response: "Answer:&nbsp;<b>18</b>", target: "18", want: Correct},
		{name: "target with unit", reason: "the target may carry its currency", response: "#### 18", target: "$18.00", want: Correct},
	})
}

func TestNumericSeparators(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "price", reason: "commas group", response: "So his profit is $70,000.", target: "70000", want: Correct},
		{name: "target groups", reason: "commas in the target", response: "That makes 2125 blocks", target: "2,125", want: Correct},
		{name: "millions", reason: "several groups", response: "#### 1,450,000", target: "1450000", want: Correct},
		{name: "decimals behind groups", reason: "1,234.50", response: "#### $1,234.50", target: "1234.5", want: Correct},
		{name: "boxed groups", reason: "8,000 is not 000", response: `\boxed{8,000}`, target: "8000", want: Correct},
		{name: "LaTeX comma", reason: "{,} is a comma", response: `\boxed{70{,}000}`, target: "70000", want: Correct, answer: `70{,}000`},
		{name: "LaTeX thin space", reason: `\, is a blank`, response: `\boxed{70\,000}`, target: "70000", want: Correct},
		{name: "LaTeX tie", reason: "~ is a blank", response: `\boxed{70~000}`, target: "70000", want: Correct},
		{name: "LaTeX comma and negative space", reason: `,\! is a comma`, response: `\boxed{70,\!000}`, target: "70000", want: Correct},
		{name: "blank", reason: "groups of three", response: "Ответ: 2 602", target: "2602", want: Correct},
		{name: "no-break blank", reason: "groups of three", response: "Ответ: 2\u00a0602", target: "2602", want: Correct},
		{name: "narrow blank", reason: "groups of three", response: "Réponse : 1\u202f234\u202f567", target: "1234567", want: Correct},
		{name: "blank, not three", reason: "two numbers", response: "Answer: 26 02", target: "2602", want: Unparsed},
		{name: "blank, unlucky", reason: "declared: reads as one number", response: "I have 5 600 gram bags", target: "5", want: Incorrect},
		{name: "apostrophe", reason: "groups of three", response: "Answer: 1'234'567", target: "1234567", want: Correct},
		{name: "typographic apostrophe", reason: "groups of three", response: "Answer: 1’234", target: "1234", want: Correct},
		{name: "underscore", reason: "groups of three", response: "Answer: 1_000", target: "1000", want: Correct},
		{name: "feet and inches", reason: "5'11 is no number", response: "Answer: 5'11", target: "511", want: Unparsed},
		{name: "list glued", reason: "1,2 is not 12", response: "The factors are 1,2", target: "12", want: Unparsed, why: ReasonAmbiguous},
		{name: "list", reason: "three numbers", response: "The factors are 1, 2, 3", target: "123", want: Unparsed},
		{name: "decimal comma", reason: "4,2 is not 42", response: "Antwort: 4,2", target: "42", want: Unparsed, why: ReasonAmbiguous},
		{name: "decimal comma, decimals", reason: "nor 4.2 without a locale", response: "Antwort: 4,2", target: "4.2", want: Unparsed, why: ReasonAmbiguous},
		{name: "leading zero comma", reason: "0,500 is a decimal", response: "Antwort: 0,500", target: "500", want: Unparsed},
		{name: "mixed separators", reason: "no language writes so", response: "Answer: 1,234 567", target: "1234567", want: Unparsed},
		{name: "long first group", reason: "1234,567", response: "Answer: 1234,567", target: "1234567", want: Unparsed},
		{name: "point groups", reason: "1.000 is 1", response: "Answer: 1.000", target: "1000", want: Incorrect},
		{name: "point groups twice", reason: "1.000.000 is not English", response: "Answer: 1.000.000", target: "1", want: Unparsed},
		{name: "de decimal", reason: "the locale decides", response: "Antwort: 4,2", target: "4.2", want: Correct, locale: "de"},
		{name: "de decimal is not 42", reason: "the locale decides", response: "Antwort: 4,2", target: "42", want: Incorrect, locale: "de"},
		{name: "de groups", reason: "the locale decides", response: "Antwort: 1.000", target: "1000", want: Correct, locale: "de"},
		{name: "de both", reason: "the locale decides", response: "Antwort: 1.234,56 €", target: "1234.56", want: Correct, locale: "de"},
		{name: "de target", reason: "a target that is not plain is read in the locale", response: "Antwort: 1.234,56", target: "1.234,56", want: Correct, locale: "de"},
		{name: "de point", reason: "4.2 is not German", response: "Antwort: 4.2", target: "42", want: Unparsed, locale: "de"},
		{name: "fr", reason: "blank groups, decimal comma", response: "La réponse est 1 234,5.", target: "1234.5", want: Correct, locale: "fr"},
		{name: "ru", reason: "blank groups, decimal comma", response: "Ответ: 2 602,50", target: "2602.5", want: Correct, locale: "ru"},
		{name: "ch", reason: "apostrophe groups", response: "Antwort: 1'234.50", target: "1234.5", want: Correct, locale: "ch"},
		{name: "de-CH", reason: "the region decides", response: "Antwort: 1’234.50", target: "1234.5", want: Correct, locale: "de-CH"},
		{name: "pt-BR", reason: "an unlisted region is its language", response: "Resposta: 1.234,5", target: "1234.5", want: Correct, locale: "pt-BR"},
		{name: "in", reason: "lakhs", response: "Answer: 12,34,567.5", target: "1234567.5", want: Correct, locale: "in"},
		{name: "lakh elsewhere", reason: "not groups of three", response: "Answer: 1,00,000", target: "100000", want: Unparsed},
	})
}

func TestNumericFractions(t *testing.T) {
	runNumericRows(t, []numericRow{
		{name: "half", reason: "1/2 is 0.5", response: "The answer is 1/2.", target: "0.5", want: Correct, answer: "1/2"},
		{name: "half, denominator", reason: "1/2 is not 2", response: "The answer is 1/2.", target: "2", want: Incorrect},
		{name: "half, numerator", reason: "1/2 is not 1", response: "The answer is 1/2.", target: "1", want: Incorrect},
		{name: "fraction target", reason: "the target may be one", response: "The answer is 0.75", target: "3/4", want: Correct},
		{name: "thirds", reason: "no decimal equals 1/3", response: "Answer: 0.333333", target: "1/3", want: Incorrect},
		{name: "boxed", reason: `\frac`, response: `\boxed{\frac{1}{2}}`, target: "0.5", want: Correct, answer: `\frac{1}{2}`},
		{name: "dfrac", reason: `\dfrac`, response: `\boxed{\dfrac{3}{4}}`, target: "0.75", want: Correct},
		{name: "short frac", reason: `\frac12`, response: `$\frac12$`, target: "0.5", want: Correct},
		{name: "negative frac", reason: `-\frac`, response: `\boxed{-\frac{1}{2}}`, target: "-0.5", want: Correct},
		{name: "negative inside", reason: `\frac{-1}{2}`, response: `\boxed{\frac{-1}{2}}`, target: "-1/2", want: Correct},
		{name: "frac of letters", reason: "no number", response: `\boxed{\frac{x}{2}}`, target: "2", want: Unparsed},
		{name: "mixed", reason: "3 1/2", response: "Answer: 3 1/2 cups", target: "3.5", want: Correct},
		{name: "mixed frac", reason: `3\frac{1}{2}`, response: `\boxed{3\frac{1}{2}}`, target: "3.5", want: Correct},
		{name: "vulgar in a word", reason: "no endless loop", response: "Answer: v½", target: "0.5", want: Unparsed},
		{name: "term", reason: "no endless loop, and a term is no number", response: `\boxed{x\frac{1}{2}}`, target: "0.5", want: Unparsed},
		{name: "vulgar", reason: "¾", response: "Answer: ¾", target: "0.75", want: Correct},
		{name: "vulgar mixed", reason: "2½", response: "Answer: 2½ hours", target: "2.5", want: Correct},
		{name: "vulgar mixed, integer", reason: "2½ is not 2", response: "Answer: 2½ hours", target: "2", want: Incorrect},
		{name: "fraction slash", reason: "U+2044", response: "Answer: 1⁄2", target: "0.5", want: Correct},
		{name: "date", reason: "no fraction", response: "It ends on 3/4/2024", target: "0.75", want: Unparsed, why: ReasonAmbiguous},
		{name: "date, year", reason: "no number", response: "Answer: 3/4/2024", target: "2024", want: Unparsed},
		{name: "ISO date", reason: "no number", response: "Answer: 2024-03-04", target: "4", want: Unparsed},
		{name: "ratio", reason: "3:4 is no number", response: "The ratio is 3:4", target: "4", want: Unparsed},
		{name: "time", reason: "10:30 is no number", response: "Answer: 10:30", target: "10", want: Unparsed},
		{name: "zero denominator", reason: "no value, no crash", response: "Answer: 1/0", target: "1", want: Unparsed, why: ReasonInvalid},
		{name: "reduced", reason: "2/4 is 1/2", response: "Answer: 2/4", target: "1/2", want: Correct},
	})
}

func TestNumericHedgesBehind(t *testing.T) {
	var rows []numericRow
	for _, behind := range []string{" or more", " or less", " <= x", "≤x", " < x", " ± 1", ", give or take", " (approximately)", "+", " and up"} {
		rows = append(rows, numericRow{name: "behind " + behind, reason: "a bound may follow its number", response: "Answer: 18" + behind, target: "18", want: Unparsed, why: ReasonAmbiguous})
	}
	rows = append(rows,
		numericRow{name: "tag behind", reason: "an unknown tag is no bound", response: "Answer: 18 </result>", target: "18", want: Correct},
		numericRow{name: "taken back", reason: "the text denies it", response: "18 is wrong", target: "18", want: Unparsed},
		numericRow{name: "taken back in brackets", reason: "the text denies 17", response: "Answer: 17 (wrong), 18 (right)", target: "18", want: Correct},
		numericRow{name: "box taken back", reason: "the text denies 17", response: `\boxed{18}, not \boxed{17}`, target: "18", want: Correct},
		numericRow{name: "thought first", reason: "a correction in the sentence", response: "Answer: I first thought 17, but it's 18.", target: "18", want: Correct},
		numericRow{name: "no", reason: "two answers", response: "Answer: 17, no 18", target: "17", want: Unparsed},
		numericRow{name: "parts", reason: "9 is a part", response: "There are 18 students: 9 boys and 9 girls.", target: "9", want: Incorrect, answer: "18"},
		numericRow{name: "half in words", reason: "18 and a half is not 18", response: "Answer: 18 and a half", target: "18", want: Incorrect, answer: "18 and a half"},
		numericRow{name: "sign outside", reason: "-(18) is not 18", response: "Answer: -(18)", target: "18", want: Unparsed},
		numericRow{name: "product of brackets", reason: "its result", response: "Answer: (9)(2) = 18", target: "18", want: Correct},
		numericRow{name: "two unknowns", reason: "two answers", response: "Answer: x = 18 and y = 2", target: "18", want: Unparsed},
		numericRow{name: "twice", reason: "a factor is no answer", response: "Answer: twice 9, that is 18", target: "18", want: Correct},
		numericRow{name: "twice, factor", reason: "a factor is no answer", response: "Answer: twice 9, that is 18", target: "9", want: Incorrect},
		numericRow{name: "twice, open", reason: "not worked out", response: "Answer: twice 9", target: "9", want: Unparsed},
		numericRow{name: "closing question", reason: "an assistant takes leave", response: "The total is $18. Would you like me to show the 2 steps?", target: "18", want: Correct},
		numericRow{name: "bracket", reason: "the bracket explains", response: "She makes $18 (9 eggs × $2 per egg).", target: "18", want: Correct},
		numericRow{name: "unworked bracket alone", reason: "nothing is explained", response: "It is (9 x 2).", target: "2", want: Unparsed},
	)
	runNumericRows(t, rows)
}
