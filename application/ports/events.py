"""Every event of the log: its key, levels and fields, what it means and what to do.

docs/logs.md is generated from this table, and tests/architecture/test_events.py checks all calls
of the event log against it. Keys, fields and reasons are stable: operators and alerts match them.
What is meant for people only is in `detail`, `hint` and `error`.
"""

from __future__ import annotations

from collections.abc import Mapping

from application.ports.connection_events import CONNECTIONS
from application.ports.event import ERROR, INFO, WARNING, Event
from application.ports.security_events import ACCESS, SECURITY
from application.ports.storage_events import OFFSETS_DATABASE, STORAGE

#: The client whose request changed something.
_CLIENT = "principal client_id peer"
#: All that a request may concern (interfaces/kafka/requests/log_subject.py).
_ABOUT = "group topic topic_id resource"


BROKER = {
    "broker_started": Event(
        INFO,
        "version cluster_id brokers listeners storage recovered admin raw flush "
        "synchronous_standby offsets settings",
        "The listeners are open and the store is recovered. `synchronous_standby`: whether "
        "there is more than one copy of each acknowledged record.",
    ),
    "broker_stopping": Event(
        INFO,
        "signal reason",
        "The broker got a signal: it responds to running requests, then stops.",
        {"stdin_ended": "With `--exit-with-stdin`: the program that started it ended."},
    ),
    "broker_stopped": Event(INFO, "", "The store is closed."),
    "broker_fenced": Event(
        WARNING,
        "",
        "Other brokers have taken the place of this one, which was silent for longer than "
        "`broker.session.timeout.ms`; or the database has lost commits (`storage_failed` says so, "
        "if a commit failed by it). It starts again.",
    ),
    "broker_joined": Event(
        INFO, "broker", "Another broker has joined the cluster, or is back: it may lead partitions."
    ),
    "broker_left": Event(
        INFO + WARNING,
        "broker partitions",
        "Another broker has stopped, or was silent for longer than `broker.session.timeout.ms`. "
        "`partitions`: those that it had not handed over, which others take over now.",
    ),
    "leaders_moved": Event(
        INFO,
        "gained from_brokers lost to_brokers",
        "Partitions of which this broker is the leader now, and of which it is not any more. A "
        "line for each commit that moves leaders: at most 1,000 partitions.",
    ),
    "drain_timed_out": Event(
        WARNING,
        "waited_seconds",
        "Requests were still running after `drain.timeout.ms`; their connections were cut.",
    ),
    "setting_without_effect": Event(
        WARNING, "detail", "Settings that are unknown or have no effect in Ottla. Check spelling."
    ),
    "startup_warning": Event(
        WARNING,
        "reason detail",
        "The settings are risky.",
        {
            "memory_storage": "All data is lost when the process ends.",
            "testing": "REST has `/test/`: for tests only.",
            "unreachable_listener": "The listener accepts remote clients but advertises localhost: "
            "set `advertised.listeners`.",
            "open_admin_listener": "The admin API accepts remote clients without TLS or without "
            "users: restrict access to its port.",
        },
    ),
    "log_lines_dropped": Event(
        WARNING,
        "lines",
        "The reader of stderr was too slow, and lines were dropped. Check the log collector.",
    ),
}

REQUESTS = {
    "request": Event(
        ("info", "warning"),
        f"time correlation_id connection_id client_id software peer listener api version {_ABOUT} "
        "topics path bytes_in bytes_out queue_us decode_us handle_us wait_us send_us total_us "
        "throttle_ms status errors error_codes refused message",
        "One request (`log.requests`); a warning if it failed or took `log.requests.slow.ms`.",
    ),
    "requests_not_logged": Event(
        WARNING,
        "peer",
        "More than 100 requests of a host failed, or were slow, within a second: the others of "
        "this second get no line. Metrics count them; `log.requests=all` logs each one.",
    ),
    "request_failed": Event(
        ERROR,
        f"api version correlation_id connection_id {_ABOUT} error traceback software peer "
        "listener path bytes_in bytes_out total_us status error_codes refused",
        "A bug in Ottla: the client got UNKNOWN_SERVER_ERROR (or HTTP 500). Report the traceback.",
    ),
    "producer_fenced": Event(
        INFO,
        "transactional_id producer_id",
        "Another producer, or an operator, took over a transactional id with an open transaction, "
        "which was aborted.",
    ),
    "stream_batch_skipped": Event(
        WARNING,
        "topic partition offset error",
        "The records of a batch cannot be opened: the raw stream does not have them.",
    ),
    "transaction_hanging": Event(
        WARNING,
        "topic partition producer_id first_offset",
        "A transaction is open that the coordinator of this broker does not end: `read_committed` "
        "consumers of the partition wait. With several brokers another one may end it: `ottla txn "
        "find-hanging` says which hang, and `ottla txn abort` ends those.",
    ),
    "transaction_timed_out": Event(
        INFO,
        "transactional_id producer_id timeout_ms",
        "The broker aborted a transaction that was open for longer than its "
        "`transaction.timeout.ms`.",
    ),
}

#: Of a topic, or of the topics of a request that changes more than a hundred.
_CHANGED = f"topic topics partitions {_CLIENT}"
_MANY = "A request for more than 100 topics is one line, with their number in `topics`."

TOPICS_AND_CONFIGS = {
    "topic_created": Event(
        INFO,
        f"{_CHANGED} automatic",
        "A topic was created; `automatic`: on its first use (`auto.create.topics.enable`). "
        f"{_MANY}",
    ),
    "topic_deleted": Event(INFO, _CHANGED, f"A topic was deleted. {_MANY}"),
    "partitions_created": Event(
        INFO, _CHANGED, f"A topic got more partitions: now `partitions`. {_MANY}"
    ),
    "records_deleted": Event(
        INFO,
        _CHANGED,
        f"The logs of `partitions` partitions start later than before. {_MANY}",
    ),
    "log_compacted": Event(
        INFO,
        "topic partition records_removed bytes_before bytes_after ms unreadable_batches",
        "A pass of compaction: of the batches that it read, `bytes_after` of `bytes_before` are "
        "left. Batches that cannot be opened stay as they are.",
    ),
    "log_compaction_failed": Event(
        WARNING,
        "topic partition error",
        "A pass of compaction failed; the partition waits for the next one, up to an hour. Logged "
        "once for each error.",
    ),
    "records_expired": Event(
        INFO,
        "topic partitions reason offsets",
        "Retention moved the log starts of `partitions` partitions, by `offsets` offsets in total: "
        "fewer records, if compaction has left gaps.",
        {
            "time": "Their largest timestamp is older than `retention.ms`.",
            "size": "More than `retention.bytes` remain.",
        },
    ),
    "configs_altered": Event(
        INFO,
        f"resource name configs {_CLIENT}",
        "Configs of a topic, group or broker changed. Values are not logged: they may be secret.",
    ),
    "quotas_altered": Event(
        INFO,
        f"entity quotas {_CLIENT}",
        "Quotas of a user, a client id, both, or an address changed, as `quotas` lists them.",
    ),
    "config_without_effect": Event(
        WARNING,
        "resource name configs",
        "A client set configs that have no effect in Ottla ([settings.md](settings.md)).",
    ),
    "config_unused": Event(
        WARNING,
        "resource name error",
        "A persisted config is ignored, because this version of Ottla does not know or allow it. "
        "Set or delete it.",
    ),
}

_REMOVALS = {
    "left": "The member left the group.",
    "replaced": "A static member with the same `group.instance.id` joined (`replaced_by`).",
    "session_timeout": "No heartbeat arrived within `session.timeout.ms`.",
    "rebalance_timeout": "The member did not rejoin, or revoke its partitions, in time: raise "
    "`max.poll.interval.ms`, or process fewer records per poll.",
    "join_timeout": "A classic member of a consumer group did not rejoin in time.",
    "sync_timeout": "The member sent no SyncGroup in time.",
}
_JOINED = {"member_joined": "A new member, `member_id`."}
_REMOVED = {"member_removed": "A member was removed; see the `member_removed` line before."}

GROUPS = {
    "group_rebalancing": Event(
        INFO,
        "group generation members reason member_id",
        "A rebalance of a classic group started; `generation` is the one that it ends.",
        {
            **_JOINED,
            "member_rejoined": "A known member joined again, for example with other topics.",
            **_REMOVED,
            "assignment_too_large": "The leader's assignment is larger than the broker accepts.",
        },
    ),
    "group_stabilized": Event(
        INFO, "group generation members", "The rebalance ended: all members have assignments."
    ),
    "group_empty": Event(
        INFO,
        "group generation reason member_id",
        "The last member of a classic group is gone.",
        _REMOVED,
    ),
    "group_epoch_bumped": Event(
        INFO,
        "group epoch members reason member_id",
        "A consumer group (KIP-848) gets a new assignment.",
        {
            **_JOINED,
            "subscription_changed": "The member subscribed to other topics.",
            **_REMOVED,
            "subscribed_topics_changed": "A subscribed topic was created, deleted or got "
            "partitions.",
        },
    ),
    "member_removed": Event(
        INFO,
        "group member_id client_id host reason replaced_by",
        "A member is no longer in the group; its partitions are reassigned.",
        _REMOVALS,
    ),
    "group_deleted": Event(
        INFO,
        "group reason",
        "A group and its committed offsets were deleted.",
        {
            "requested": "By a client.",
            "expired": "It was empty for `offsets.retention.minutes`.",
            "reset": "By a test, with everything else (`POST /test/reset`).",
        },
    ),
    "offsets_expired": Event(
        INFO,
        "group offsets",
        "Committed offsets were deleted after `offsets.retention.minutes`.",
    ),
}

METRICS = {
    "metrics_failed": Event(ERROR, "error traceback", "Metrics could not be read. Report it."),
    "metrics_export_failed": Event(
        WARNING,
        "endpoint error",
        "The OpenTelemetry collector cannot be reached; these values are dropped.",
    ),
    "metrics_export_recovered": Event(INFO, "endpoint", "The collector accepts metrics again."),
}

SECTIONS: Mapping[str, Mapping[str, Event]] = {
    "The broker": BROKER,
    "Connections": CONNECTIONS,
    "Access": ACCESS,
    "Users and authentication": SECURITY,
    "Requests": REQUESTS,
    "Topics and configs": TOPICS_AND_CONFIGS,
    "Groups": GROUPS,
    "Storage": STORAGE,
    "Committed offsets in a database": OFFSETS_DATABASE,
    "Metrics": METRICS,
}

EVENTS: Mapping[str, Event] = {
    key: event for section in SECTIONS.values() for key, event in section.items()
}
