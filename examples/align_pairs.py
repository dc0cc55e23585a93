"""Align plain pairs of sequences: score, interval and CIGAR."""

import overlapper

queries = ["ACGTTGCAACTGGTCA", "GGATCCTTAGCA"]
targets = ["TTACGTTGCATCTGGTCAGG", "CCGGATCCTAGCAAA"]

found = overlapper.align(
    queries, targets, mode="semi-global", free=["target-start", "target-end"],
    scoring=overlapper.Scoring(match=2, mismatch=-3, gap_open=-4, gap_extend=-2),
)  # fmt: skip
for row in range(len(found)):
    interval = f"{found.t_start[row]}-{found.t_end[row]}"
    print(f"pair {row}: score {found.score[row]}, target {interval}, {found.cigar_text(row)}")
