// Package result is the file of a run: what became of every item, written as
// it happens, enough to grade the run again without the dataset and without
// asking anybody.
//
// It computes no statistics and knows nothing of tests; evaltest/gate and
// evaltest/report read what it reads.
//
// Words: a journal is the file of one run. A [Record] is one sample of one
// item, found by its [Key]. The tail is the last line, which a killed process
// may have left unfinished.
//
// The format is JSON lines, UTF-8: a [Header], one record a line, and an
// {"end": …} line when the run came to an end. The file is plain while it is
// written and gzip once it is closed; readers tell by the first bytes. Fields
// that this version does not know are ignored when read and stay in the file.
// Text that is not UTF-8 (models and applications return anything) stands in
// the record with U+FFFD in place of the bad bytes, and byte for byte in the
// line's "bytes" field, from which it is restored when read. A dataset's row
// keeps its digits and text; white space between its tokens is dropped.
//
// To write one:
//
//  1. Choose a path: [NewPath] in a [Dir] under [DefaultDir].
//  2. [Create] it with a Header and point [SetLatest] at it.
//  3. [Writer.Write] each record from any goroutine. When it returns nil the
//     kernel has the record: kill -9 cannot lose it, a power cut may.
//  4. [Writer.Close] with an [End].
//
// To go on with an interrupted one, [Append] repairs its tail and returns what
// it already has. To read one, [Read] it whole, or [Open] it and range over
// [Reader.All]. [Latest] finds it.
package result
