"""The process, with the names that prometheus_client gives them in every Python program."""

from __future__ import annotations

from application.metrics.families.family import Family, Kind

_COUNTER, _GAUGE = Kind.COUNTER, Kind.GAUGE

CPU = Family("process_cpu_seconds_total", _COUNTER, "User and system CPU time in seconds.")
RESIDENT = Family("process_resident_memory_bytes", _GAUGE, "Memory in use, with mapped files.")
PRIVATE = Family(
    "ottla_process_private_memory_bytes", _GAUGE, "Memory in use that is the process's own."
)
VIRTUAL = Family("process_virtual_memory_bytes", _GAUGE, "Address space, with the store's map.")
OPEN_FILES = Family("process_open_fds", _GAUGE, "Open files and sockets.")
MOST_FILES = Family("process_max_fds", _GAUGE, "How many may be open.")
STARTED = Family("process_start_time_seconds", _GAUGE, "When the process was started, since 1970.")
GC_COLLECTED = Family(
    "python_gc_objects_collected_total", _COUNTER, "Objects that were garbage.", ("generation",)
)
GC_UNCOLLECTABLE = Family(
    "python_gc_objects_uncollectable_total",
    _COUNTER,
    "Objects that were garbage and could not be freed.",
    ("generation",),
)
GC_RUNS = Family(
    "python_gc_collections_total", _COUNTER, "How often garbage was looked for.", ("generation",)
)
PYTHON = Family(
    "python_info",
    _GAUGE,
    "Which Python this is.",
    ("implementation", "major", "minor", "patchlevel", "version"),
)

FAMILIES = (
    CPU, RESIDENT, PRIVATE, VIRTUAL, OPEN_FILES, MOST_FILES, STARTED, GC_COLLECTED,
    GC_UNCOLLECTABLE, GC_RUNS, PYTHON,
)  # fmt: skip
