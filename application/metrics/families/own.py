"""What is Ottla's own."""

from __future__ import annotations

from application.metrics.families.family import counter, gauge, histogram

BUILD = gauge("ottla_build_info", "Which Ottla this is.", "version", "cluster_id")
UPTIME = gauge("ottla_uptime_seconds", "Since the broker was started.")
TOPICS = gauge("ottla_topics", "Topics there are.")
GROUPS = gauge("ottla_groups", "Consumer groups, by kind and state.", "kind", "state")
REQUEST_TIME = histogram(
    "ottla_request_duration_seconds",
    "From the arrival of a request to its answer, of every request.",
    "api",
)
STAGE_TIME = histogram(
    "ottla_request_stage_seconds",
    "Where that time went: queue, decode, handle, wait (for a commit, data or others), send. Of a "
    "sample: 100 requests of each tenth of a second, and others that failed or were slow.",
    "api",
    "stage",
)
REQUEST_BYTES = counter("ottla_request_bytes_total", "Bytes of requests, with their size.", "api")
RESPONSE_BYTES = counter("ottla_response_bytes_total", "Bytes of answers, with their size.", "api")
UNANSWERED = counter(
    "ottla_unanswered_requests_total",
    "Requests that began, and whose connections ended before their answers could leave.",
    "api",
)
CONNECTIONS = gauge("ottla_connections", "Open connections of clients.", "listener")
CONNECTIONS_MADE = counter("ottla_connections_total", "Connections that were ever made.")
REQUESTS_MEMORY = gauge(
    "ottla_large_requests_bytes",
    "Memory that large requests hold (queued.max.request.bytes).",
)
UNREAD = gauge("ottla_unread_answers_bytes", "Answers that clients have not read yet.")
WAITING_FETCHES = gauge("ottla_waiting_fetches", "Fetches that wait for data.")
WAITING_JOINS = gauge(
    "ottla_waiting_joins", "Members of classic groups that wait for the others to join."
)
OFFSETS_UNDER_WAY = gauge("ottla_offsets_under_way", "Commits of offsets that are not durable yet.")
FETCH_SESSIONS = gauge("ottla_fetch_sessions", "Cached incremental fetch sessions.")
COMMIT_TIME = histogram("ottla_commit_duration_seconds", "How long a commit of the store takes.")
COMMIT_FAILURES = counter("ottla_commit_failures_total", "Commits that failed.")
COMMIT_WAITERS = histogram(
    "ottla_commit_waiters", "Requests and others that one commit was shared by."
)
STORE_MAP = gauge("ottla_store_map_bytes", "Address space of the store: it cannot grow beyond.")
STORE_USED = gauge(
    "ottla_store_used_bytes", "Of the store's file, what was ever in use: it never shrinks."
)
STORE_PAGES = gauge("ottla_store_used_pages", "The same in pages.")
DISK_FREE = gauge("ottla_store_disk_free_bytes", "Room on the disk that has the data folder.")
LOOP_LAG = histogram(
    "ottla_loop_lag_seconds", "How late the event loop was, looked at twice a second."
)
