process OVERLAPPER_OVERLAP {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "overlapper:0.1.0"

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("*.paf.gz"), emit: overlaps
    tuple val(meta), path("*.overlap.json"), emit: stats
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    overlapper overlap \\
        $args \\
        --threads $task.cpus \\
        --stats ${prefix}.overlap.json \\
        -o ${prefix}.paf.gz \\
        $reads

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo '' | gzip > ${prefix}.paf.gz
    touch ${prefix}.overlap.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """
}
