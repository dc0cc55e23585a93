#!/usr/bin/env nextflow

// From reads to contigs: correct, overlap, lay out, polish, and a report on each sample.
//
//   nextflow run examples/nextflow --input samples.csv --outdir results
//
// samples.csv has a header, sample,reads, and a line for each sample.

include { OVERLAPPER_CORRECT } from './modules/overlapper/correct/main'
include { OVERLAPPER_OVERLAP } from './modules/overlapper/overlap/main'
include { OVERLAPPER_LAYOUT  } from './modules/overlapper/layout/main'
include { OVERLAPPER_POLISH  } from './modules/overlapper/polish/main'
include { OVERLAPPER_REPORT  } from './modules/overlapper/report/main'

workflow {
    raw = Channel.fromPath(params.input, checkIfExists: true)
        .splitCsv(header: true)
        .map { row -> [ [ id: row.sample ], file(row.reads, checkIfExists: true) ] }

    OVERLAPPER_CORRECT ( raw )
    OVERLAPPER_OVERLAP ( OVERLAPPER_CORRECT.out.reads )
    OVERLAPPER_LAYOUT  ( OVERLAPPER_CORRECT.out.reads.join(OVERLAPPER_OVERLAP.out.overlaps) )
    OVERLAPPER_POLISH  ( OVERLAPPER_LAYOUT.out.gfa.join(raw) )

    made = OVERLAPPER_CORRECT.out.reads
        .mix(
            OVERLAPPER_CORRECT.out.table,
            OVERLAPPER_OVERLAP.out.overlaps,
            OVERLAPPER_OVERLAP.out.stats,
            OVERLAPPER_LAYOUT.out.gfa,
            OVERLAPPER_LAYOUT.out.stats,
        )
        .groupTuple(size: 6)
    OVERLAPPER_REPORT ( made )
}
