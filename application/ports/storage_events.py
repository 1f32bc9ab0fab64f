"""Events of the store, and of a database with committed offsets: a part of the tables of events.

See events.py.
"""

from __future__ import annotations

from application.ports.event import ERROR, INFO, WARNING, Event

STORAGE = {
    "storage_failed": Event(
        ERROR,
        "error",
        "A commit failed and nothing is persisted; clients retry. Logged once for each error. Make "
        "room on the disk, or repair it ([storage.md](storage.md)).",
    ),
    "storage_recovered": Event(
        INFO,
        "failed_commits",
        "Commits succeed again after `failed_commits` failures; logged after a minute without "
        "another one if they return.",
    ),
    "storage_waits": Event(
        WARNING,
        "reason",
        "A commit has taken longer than 2 s: PostgreSQL is away, does not respond, or waits for "
        "its standby, or the bucket does not respond (`reason`). Producers wait; `GET /readyz` "
        "says it, too.",
    ),
    "storage_goes_on": Event(INFO, "", "After `storage_waits` a commit was persisted."),
    "lease_over": Event(
        WARNING,
        "",
        "The lease has been over for 5 s, as PostgreSQL is not reached, or waits for its standby: "
        "another broker may have taken the place of this one, which has sent its clients away.",
    ),
    "lease_renewed": Event(INFO, "", "After `lease_over` the broker has its lease again."),
    "commits_repeated": Event(
        WARNING,
        "commits",
        "PostgreSQL had lost the last commits of this broker, as after an asynchronous standby was "
        "promoted, and has them again: nothing that was acknowledged is lost.",
    ),
    "objects_wait": Event(
        WARNING,
        "reason",
        "Old records, or those of large commits, cannot be written to S3: they are in the "
        "database, which grows, and S3 is tried again after 10 s to 10 minutes. A table or an "
        "object that is damaged is left alone for 10 minutes; others are written meanwhile.",
    ),
    "objects_go_on": Event(INFO, "", "Records are written to S3 again."),
    "table_not_dropped": Event(
        WARNING,
        "reason",
        "A table in PostgreSQL of which nothing is needed any more cannot be dropped, as with a "
        "view that depends on it; tried again every 10 s. Logged once for each table. Drop what "
        "depends on it.",
    ),
    "store_copies_changed": Event(
        INFO + WARNING,
        "copies before",
        "PostgreSQL has gained or lost synchronous standbys. With fewer copies than "
        "`min.insync.replicas` requests with acks=all get NOT_ENOUGH_REPLICAS.",
    ),
    "store_copies_too_few": Event(
        WARNING,
        "copies min_insync_replicas",
        "PostgreSQL has fewer copies than `min.insync.replicas`, the default of all topics, at the "
        "start or from now on: requests with acks=all get NOT_ENOUGH_REPLICAS, and commits of "
        "offsets COORDINATOR_NOT_AVAILABLE. Connect a synchronous standby, set `storage.copies` if "
        "the provider hides it, or lower `min.insync.replicas`.",
    ),
    "storage_close_failed": Event(
        ERROR, "error traceback", "The last commit or flush failed while the broker stopped."
    ),
    "power_cut_detected": Event(
        WARNING, "detail", "The machine went down while the store was open: records may be lost."
    ),
    "partition_unreadable": Event(
        ERROR, "topic partition error", "A partition cannot be read; logged once a minute."
    ),
    "stray_partitions_found": Event(
        WARNING,
        "partition_ids",
        "The store has data of partitions that belong to no topic. Report it.",
    ),
    "flush_failed": Event(WARNING, "error traceback", "A flush failed; the next one follows."),
    "snapshot_failed": Event(
        WARNING,
        "error traceback",
        "Producer state was not persisted at the stop: the next start reads more of the logs.",
    ),
    "scan_worker_failed": Event(
        WARNING,
        "error",
        "A worker process for searches or compaction could not start; the broker does it.",
    ),
}

OFFSETS_DATABASE = {
    "offsets_loading": Event(INFO, "", "Committed offsets are being read from the database."),
    "offsets_loaded": Event(INFO, "offsets seconds", "All committed offsets are in memory."),
    "offsets_moved": Event(
        INFO, "offsets database", "Committed offsets were moved from the store to the database."
    ),
    "offsets_discarded": Event(
        WARNING,
        "previous",
        "The broker was started with offsets=memory://: earlier committed offsets are gone.",
    ),
    "offsets_database_failed": Event(
        ERROR,
        "error traceback",
        "The database cannot be used; commits of offsets fail until it can. Logged once for each "
        "error.",
    ),
    "offsets_database_recovered": Event(INFO, "", "Committed offsets are persisted again."),
    "offsets_database_slow": Event(
        WARNING, "waited_seconds", "A transaction takes long; commits of offsets wait for it."
    ),
    "offsets_database_close_timed_out": Event(
        ERROR,
        "waited_seconds",
        "The database did not respond at the stop: waiting commits, which had no response, are "
        "lost.",
    ),
}
