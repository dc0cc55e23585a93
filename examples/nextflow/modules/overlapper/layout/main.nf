process OVERLAPPER_LAYOUT {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "overlapper:0.1.0"

    input:
    tuple val(meta), path(reads), path(overlaps)

    output:
    tuple val(meta), path("*.gfa"), emit: gfa
    tuple val(meta), path("*.unitigs.tsv"), emit: table
    tuple val(meta), path("*.layout.json"), emit: stats
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    overlapper layout \\
        $args \\
        --threads $task.cpus \\
        --table ${prefix}.unitigs.tsv \\
        --stats ${prefix}.layout.json \\
        -o ${prefix}.gfa \\
        $reads \\
        $overlaps

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.gfa ${prefix}.unitigs.tsv ${prefix}.layout.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """
}
