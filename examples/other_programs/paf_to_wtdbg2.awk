# Turn PAF into the alignments of wtdbg2 --load-alignments, in bins of 256 bases:
#
#     awk -f paf_to_wtdbg2.awk overlaps.paf > overlaps.alignments
#     wtdbg2 -t 2 -x ont -g 200k -i reads.fastq.gz --load-alignments overlaps.alignments -fo wtdbg2
#     wtpoa-cns -t 2 -i wtdbg2.ctg.lay.gz -fo wtdbg2.fasta

BEGIN {OFS = "\t"}
function bins(x) {return int((x + 128) / 256)}
function least(a, b) {return a < b ? a : b}
{
    qn = int($2 / 256); tn = int($7 / 256)
    qs = bins($3); qe = least(bins($4), qn); ts = bins($8); te = least(bins($9), tn)
    q = qe - qs; t = te - ts; both = least(q, t); half = int(both / 2)
    gap = (q > t) ? q - t "I" : (t > q) ? t - q "D" : ""
    if (both > 1) print $1, $5, qn * 256, qs * 256, qe * 256, $6, "+", tn * 256, ts * 256, te * 256,
        $10, $11, int($10 / 4), 0, half "M" gap both - half "M"
}
