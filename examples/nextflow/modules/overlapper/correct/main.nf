process OVERLAPPER_CORRECT {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "overlapper:0.1.0"

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("*.corrected.fastq.gz"), emit: reads
    tuple val(meta), path("*.corrected.tsv"), emit: table
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    overlapper correct \\
        $args \\
        --threads $task.cpus \\
        --table ${prefix}.corrected.tsv \\
        -o ${prefix}.corrected.fastq.gz \\
        $reads

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo '' | gzip > ${prefix}.corrected.fastq.gz
    touch ${prefix}.corrected.tsv

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """
}
