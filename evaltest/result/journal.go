package result

import "maps"

// A Journal is a journal read whole.
type Journal struct {
	// Path is the file that was read.
	Path   string
	Header Header
	// Records has one record a key, the latest written, in the order in which
	// the keys first came.
	Records []Record
	// Replaced are the records that a later one of the same key replaced, in
	// the order in which they were replaced: answers that were asked for again,
	// and the earlier passes of a benchmark. What they spent was spent, so it
	// belongs into totals. They hold that, the key, the outcome, start and
	// duration; texts, attempts, verdicts and errors are left out.
	Replaced []Record
	// End is the last line; nil if the run was cut off or goes on.
	End *End
	// Warnings are damage that reading went on from: a *[LineError] for a
	// damaged tail.
	Warnings []error

	index map[Key]int
}

// Read reads a journal whole, plain or compressed; see [Open].
func Read(path string) (*Journal, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.journal()
}

func (r *Reader) journal() (*Journal, error) {
	j := &Journal{Path: r.path, Header: r.header, index: map[Key]int{}}
	for rec, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if i, ok := j.index[rec.Key()]; ok {
			j.Replaced = append(j.Replaced, spentOf(&j.Records[i]))
			j.Records[i] = rec
			continue
		}
		j.index[rec.Key()] = len(j.Records)
		j.Records = append(j.Records, rec)
	}
	j.End, j.Warnings = r.End(), r.Warnings()
	return j, nil
}

// spentOf is what is kept of a record that was replaced.
func spentOf(r *Record) Record {
	return Record{
		Item: Item{ID: r.Item.ID}, Sample: r.Sample, Outcome: r.Outcome,
		Usage: r.Usage, JudgeUsage: r.JudgeUsage, CostUSD: r.CostUSD, JudgeCostUSD: r.JudgeCostUSD,
		AtLeastUSD: r.AtLeastUSD, JudgeAtLeastUSD: r.JudgeAtLeastUSD,
		Replayed: r.Replayed, JudgeReplayed: r.JudgeReplayed, Confirms: r.Confirms, Start: r.Start, Duration: r.Duration,
	}
}

// Fingerprint is the header's, and what was known of the run only at its end.
func (j *Journal) Fingerprint() map[string]string {
	if j.End == nil || len(j.End.Fingerprint) == 0 {
		return j.Header.Fingerprint
	}
	both := maps.Clone(j.End.Fingerprint)
	maps.Copy(both, j.Header.Fingerprint)
	return both
}

// Find returns the record of a key; nil if there is none. It points into
// Records. Safe for concurrent use if nobody changes Records.
func (j *Journal) Find(k Key) *Record {
	if j.index != nil {
		i, ok := j.index[k]
		if !ok {
			return nil
		}
		if i < len(j.Records) && j.Records[i].Key() == k {
			return &j.Records[i]
		}
	}
	for i := range j.Records { // made or reordered by hand
		if j.Records[i].Key() == k {
			return &j.Records[i]
		}
	}
	return nil
}
