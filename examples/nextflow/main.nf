#!/usr/bin/env nextflow

// From reads to contigs, and a report, for each sample.
//
//   nextflow run examples/nextflow --input samples.csv --outdir results
//
// samples.csv has a header, sample,reads, and a line for each file; a sample may have several.

include { OVERLAPPER_ASSEMBLE } from './modules/overlapper/assemble/main'
include { OVERLAPPER_REPORT   } from './modules/overlapper/report/main'

workflow {
    reads = Channel.fromPath(params.input, checkIfExists: true)
        .splitCsv(header: true)
        .map { row -> [ [ id: row.sample ], file(row.reads, checkIfExists: true) ] }
        .groupTuple()

    OVERLAPPER_ASSEMBLE ( reads )
    OVERLAPPER_REPORT ( OVERLAPPER_ASSEMBLE.out.folder.join(reads).map { meta, folder, files -> [ meta, [ folder ] + files ] } )
}
