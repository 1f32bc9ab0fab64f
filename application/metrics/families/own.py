"""What is Ottla's own."""

from __future__ import annotations

from application.metrics.families.family import Family, Kind

_COUNTER, _GAUGE, _HISTOGRAM = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM

BUILD = Family("ottla_build_info", _GAUGE, "Which Ottla this is.", ("version", "cluster_id"))
UPTIME = Family("ottla_uptime_seconds", _GAUGE, "Since the broker was started.")
TOPICS = Family("ottla_topics", _GAUGE, "Topics there are.")
GROUPS = Family("ottla_groups", _GAUGE, "Consumer groups, by kind and state.", ("kind", "state"))
REQUEST_TIME = Family(
    "ottla_request_duration_seconds",
    _HISTOGRAM,
    "From the arrival of a request to its answer, of every request.",
    ("api",),
)
STAGE_TIME = Family(
    "ottla_request_stage_seconds",
    _HISTOGRAM,
    "Where that time went: queue, decode, handle, wait (for a commit, data or others), send. Of a "
    "sample: 100 requests of each tenth of a second, and others that failed or were slow.",
    ("api", "stage"),
)
REQUEST_BYTES = Family(
    "ottla_request_bytes_total", _COUNTER, "Bytes of requests, with their size.", ("api",)
)
RESPONSE_BYTES = Family(
    "ottla_response_bytes_total", _COUNTER, "Bytes of answers, with their size.", ("api",)
)
UNANSWERED = Family(
    "ottla_unanswered_requests_total",
    _COUNTER,
    "Requests that began, and whose connections ended before their answers could leave.",
    ("api",),
)
CONNECTIONS = Family("ottla_connections", _GAUGE, "Open connections of clients.", ("listener",))
CONNECTIONS_MADE = Family("ottla_connections_total", _COUNTER, "Connections that were ever made.")
REQUESTS_MEMORY = Family(
    "ottla_large_requests_bytes",
    _GAUGE,
    "Memory that large requests hold (queued.max.request.bytes).",
)
UNREAD = Family("ottla_unread_answers_bytes", _GAUGE, "Answers that clients have not read yet.")
WAITING_FETCHES = Family("ottla_waiting_fetches", _GAUGE, "Fetches that wait for data.")
WAITING_JOINS = Family(
    "ottla_waiting_joins", _GAUGE, "Members of classic groups that wait for the others to join."
)
OFFSETS_UNDER_WAY = Family(
    "ottla_offsets_under_way", _GAUGE, "Commits of offsets that are not durable yet."
)
COMMIT_TIME = Family(
    "ottla_commit_duration_seconds", _HISTOGRAM, "How long a commit of the store takes."
)
COMMIT_FAILURES = Family("ottla_commit_failures_total", _COUNTER, "Commits that failed.")
COMMIT_WAITERS = Family(
    "ottla_commit_waiters", _HISTOGRAM, "Requests and others that one commit was shared by."
)
STORE_MAP = Family(
    "ottla_store_map_bytes", _GAUGE, "Address space of the store: it cannot grow beyond."
)
STORE_USED = Family(
    "ottla_store_used_bytes", _GAUGE, "Of the store's file, what was ever in use: it never shrinks."
)
STORE_PAGES = Family("ottla_store_used_pages", _GAUGE, "The same in pages.")
DISK_FREE = Family(
    "ottla_store_disk_free_bytes", _GAUGE, "Room on the disk that has the data folder."
)
LOOP_LAG = Family(
    "ottla_loop_lag_seconds", _HISTOGRAM, "How late the event loop was, looked at twice a second."
)
FETCH_SESSIONS = Family("ottla_fetch_sessions", _GAUGE, "Incremental fetch sessions that are kept.")

FAMILIES = (
    BUILD, UPTIME, TOPICS, GROUPS, REQUEST_TIME, STAGE_TIME, REQUEST_BYTES, RESPONSE_BYTES,
    UNANSWERED, CONNECTIONS, CONNECTIONS_MADE, REQUESTS_MEMORY, UNREAD, WAITING_FETCHES,
    WAITING_JOINS, OFFSETS_UNDER_WAY, FETCH_SESSIONS, COMMIT_TIME, COMMIT_FAILURES,
    COMMIT_WAITERS, STORE_MAP, STORE_USED, STORE_PAGES, DISK_FREE, LOOP_LAG,
)  # fmt: skip
