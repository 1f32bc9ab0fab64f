"""What is Ottla's own."""

from __future__ import annotations

from application.metrics.families.family import counter, gauge, histogram

BUILD = gauge("ottla_build_info", "Version of Ottla.", "version", "cluster_id")
UPTIME = gauge("ottla_uptime_seconds", "Time since the start.")
LEASE = gauge(
    "ottla_lease_seconds",
    "How long other brokers take this one for alive; 0: they may lead its partitions. Only with a "
    "store that several share.",
)
BROKER_SESSION = gauge(
    "ottla_broker_session_info",
    "1; the state of each registered broker (ALIVE, STARTING or FENCED) and its session, another "
    "one whenever it connects to the store; empty: it has ended. Only with a store that several "
    "share.",
    "id",
    "state",
    "session_id",
)
LEADER_EPOCH = gauge(
    "ottla_partition_leader_epoch",
    "Leader epoch of partitions that this broker leads. Only with a store that several share.",
    "topic",
    "partition",
)
TOPICS = gauge("ottla_topics", "Topics.")
GROUPS = gauge("ottla_groups", "Consumer groups, by kind and state.", "kind", "state")
TRANSACTIONS = gauge(
    "ottla_transactions", "Transactional ids, by the state of their transaction.", "state"
)
TRANSACTIONS_TIMED_OUT = counter(
    "ottla_transactions_timed_out_total",
    "Transactions that the broker aborted because they were open for too long, since the start.",
)
REQUEST_TIME = histogram(
    "ottla_request_duration_seconds",
    "Time from the arrival of a request to its response, of every request.",
    "api",
)
STAGE_TIME = histogram(
    "ottla_request_stage_seconds",
    "That time by stage: queue, decode, handle, wait (for a commit, data or others), send. Of a "
    "sample: 100 requests of each tenth of a second, and others that failed or were slow. Without "
    "buckets: the sum and the count.",
    "api",
    "stage",
)
REQUEST_BYTES = counter(
    "ottla_request_bytes_total", "Bytes of requests, with their size field.", "api"
)
RESPONSE_BYTES = counter(
    "ottla_response_bytes_total", "Bytes of responses, with their size field.", "api"
)
WITHOUT_RESPONSE = counter(
    "ottla_requests_without_response_total",
    "Requests whose connection ended before the response was sent.",
    "api",
)
CONNECTIONS = gauge("ottla_connections", "Open connections of clients.", "listener")
DENIALS = counter(
    "ottla_authorization_denied_total", "Rights that clients lacked, each with an error response."
)
CONNECTIONS_MADE = counter("ottla_connections_total", "Accepted connections since the start.")
REQUESTS_MEMORY = gauge(
    "ottla_large_requests_bytes",
    "Memory of large requests (queued.max.request.bytes).",
)
UNREAD = gauge("ottla_unread_response_bytes", "Responses that clients have not read yet.")
WAITING_FETCHES = gauge("ottla_waiting_fetches", "Fetches that wait for data.")
WAITING_JOINS = gauge(
    "ottla_waiting_joins", "Members of classic groups that wait for the others to join."
)
PENDING_OFFSET_COMMITS = gauge(
    "ottla_offset_commits_pending", "Commits of offsets that are not durable yet."
)
FETCH_SESSIONS = gauge("ottla_fetch_sessions", "Cached incremental fetch sessions.")
COMMIT_TIME = histogram("ottla_commit_duration_seconds", "Duration of a commit of the store.")
COMMIT_FAILURES = counter("ottla_commit_failures_total", "Commits that failed.")
COMMIT_WAITERS = histogram(
    "ottla_commit_waiters", "Waiters per commit: requests and background jobs that share it."
)
STORE_MAP = gauge("ottla_store_map_bytes", "Size limit of the store.")
STORE_USED = gauge(
    "ottla_store_used_bytes",
    "The store's file up to the last page that was ever used, free pages included; only `ottla "
    "storage compact` shrinks it.",
)
STORE_FREE = gauge(
    "ottla_store_free_bytes",
    "The free pages of ottla_store_used_bytes: reused, or returned by `ottla storage compact`.",
)
STORE_PAGES = gauge("ottla_store_used_pages", "ottla_store_used_bytes in pages.")
DISK_FREE = gauge("ottla_store_disk_free_bytes", "Free space on the disk of the data folder.")
STORE_READY = gauge(
    "ottla_store_ready",
    "1; 0: the last commit failed, one takes longer than 2 s, or the lease is over. GET /readyz "
    "has the reason.",
)
STORE_COPIES = gauge(
    "ottla_store_copies",
    "Copies of each acknowledged record: in PostgreSQL, and on its synchronous standbys.",
)
STORE_SESSIONS = counter(
    "ottla_store_sessions_total",
    "Sessions of this process with PostgreSQL: one, and another one with each new connection for "
    "commits.",
)
ENTRY_BYTES = gauge(
    "ottla_store_batch_bytes",
    "Batches in the tables and objects that this broker uses, also those of other brokers in them, "
    "by place: database or objects. Only with objects.",
    "place",
)
OBJECT_REQUESTS = counter(
    "ottla_object_requests_total",
    "Requests to the object storage, by what they do: write, read, delete or list.",
    "request",
)
OBJECT_FAILURES = counter(
    "ottla_object_failures_total",
    "Requests to the object storage that failed, after all attempts.",
    "request",
)
OBJECT_BYTES = counter(
    "ottla_object_bytes_total", "Bytes written to the object storage, and read from it.", "request"
)
EXPIRED_RECORDS = counter(
    "ottla_expired_records_total",
    "Offsets of records that retention removed, with the gaps of compaction; by time or size.",
    "reason",
)
COMPACTED_RECORDS = counter(
    "ottla_compacted_records_total", "Records that compaction removed since the start."
)
LOOP_LAG = histogram("ottla_loop_lag_seconds", "Delay of the event loop, measured twice a second.")
