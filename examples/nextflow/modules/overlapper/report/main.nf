process OVERLAPPER_REPORT {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"
    container "overlapper:0.1.0"

    input:
    tuple val(meta), path(files)

    output:
    tuple val(meta), path("*.html"), emit: report
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    overlapper report \\
        $args \\
        --threads $task.cpus \\
        --title "${meta.id}" \\
        -o ${prefix}.html \\
        $files

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.html

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        overlapper: \$(overlapper --version | sed 's/overlapper //')
    END_VERSIONS
    """
}
