"""The process, with the names that prometheus_client gives them in every Python program."""

from __future__ import annotations

from application.metrics.families.family import counter, gauge

CPU = counter("process_cpu_seconds_total", "User and system CPU time in seconds.")
RESIDENT = gauge("process_resident_memory_bytes", "Memory in use, with mapped files.")
PRIVATE = gauge("ottla_process_private_memory_bytes", "Memory in use that is the process's own.")
VIRTUAL = gauge("process_virtual_memory_bytes", "Address space, with the store's map.")
OPEN_FILES = gauge("process_open_fds", "Open files and sockets.")
MOST_FILES = gauge("process_max_fds", "How many may be open.")
STARTED = gauge("process_start_time_seconds", "When the process was started, since 1970.")
GC_COLLECTED = counter(
    "python_gc_objects_collected_total", "Objects that were garbage.", "generation"
)
GC_UNCOLLECTABLE = counter(
    "python_gc_objects_uncollectable_total",
    "Objects that were garbage and could not be freed.",
    "generation",
)
GC_RUNS = counter("python_gc_collections_total", "How often garbage was looked for.", "generation")
PYTHON = gauge(
    "python_info",
    "Which Python this is.",
    "implementation",
    "major",
    "minor",
    "patchlevel",
    "version",
)
