"""Comparison of methods on the same reads: finders x extenders.

::

    methods -> one process each -> PAF, times, memory -> judged by placements or by consensus -> Comparison

Every method runs as a command in a process of its own, whose peak memory is then that of the method alone.
Before that, it runs on a few of the reads, so that no kernel is compiled while it is timed.
"""
