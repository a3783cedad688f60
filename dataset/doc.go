// Package dataset reads the rows that an eval asks a model about: JSONL files,
// plain or compressed with gzip or zstd, told apart by their first bytes and
// never by name.
//
// It is not a table library and not a downloader: it reads whole rows, checks
// them, picks some and hands them out. Known datasets live in the packages
// below it (dataset/gsm8k).
//
// Three words: an item is one row with its parts named ([Item]); a dataset is
// a verified, immutable list of items ([Dataset]); a selection is the part of
// it that a run looks at ([Limit], [Sample], [Filter], [IDs], [Shard]).
//
// To use it:
//
//  1. Say which column is what, if the default names do not fit: [Fields] with
//     a [Mapping], or [Decode] with a function of your own.
//  2. Load the file: [Load] from disk, [LoadFS] from an embed.FS, [Read] from
//     a reader, [New] from items made in code; [Open] for files that should
//     not be held in memory. Each of them reads and checks everything before
//     it hands out the first item: a truncated, corrupt, mislabelled or empty
//     file, a malformed row, a repeated id or key is an [*Error] with file,
//     line, rows read and what to do. No row is ever left out silently.
//  3. Correct labels known to be wrong without editing the file: [Overrides],
//     [OverridesFile].
//  4. Narrow it: pass the selection to Load, or call [Dataset.Select] later.
//  5. Show what was done beside the results: [Dataset.SHA256],
//     [Dataset.Selection], [Dataset.Overrides], [Dataset.Warnings].
//
// [Create] writes files that load again.
package dataset
