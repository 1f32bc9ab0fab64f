"""The process, with the names of prometheus_client's collectors."""

from __future__ import annotations

from application.metrics.families.family import counter, gauge

CPU = counter("process_cpu_seconds_total", "User and system CPU time in seconds.")
RESIDENT = gauge("process_resident_memory_bytes", "Resident memory, with mapped files.")
PRIVATE = gauge("ottla_process_private_memory_bytes", "Anonymous memory of the process.")
VIRTUAL = gauge("process_virtual_memory_bytes", "Address space, with the store's map.")
OPEN_FILES = gauge("process_open_fds", "Open files and sockets.")
MOST_FILES = gauge("process_max_fds", "Limit of open files and sockets.")
STARTED = gauge("process_start_time_seconds", "Start time of the process in seconds since 1970.")
GC_COLLECTED = counter(
    "python_gc_objects_collected_total", "Objects that the collector freed.", "generation"
)
GC_UNCOLLECTABLE = counter(
    "python_gc_objects_uncollectable_total",
    "Objects that the collector could not free.",
    "generation",
)
GC_RUNS = counter("python_gc_collections_total", "Runs of the garbage collector.", "generation")
PYTHON = gauge(
    "python_info",
    "Version of Python.",
    "implementation",
    "major",
    "minor",
    "patchlevel",
    "version",
)
