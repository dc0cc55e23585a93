process OVERLAPPER_ASSEMBLE {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "overlapper:0.1.0"

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("*.assembly"), emit: folder
    tuple val(meta), path("*.contigs.fasta"), emit: contigs
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    overlapper assemble \\
        $args \\
        --threads $task.cpus \\
        -o ${prefix}.assembly \\
        $reads
    cp ${prefix}.assembly/contigs.fasta ${prefix}.contigs.fasta

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    mkdir ${prefix}.assembly
    touch ${prefix}.contigs.fasta

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """
}
