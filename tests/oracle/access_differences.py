"""Differences of requests of clients with few rights."""

from __future__ import annotations

from tests.oracle.access import NOT_AUTHORIZED
from tests.oracle.compare import MISSING
from tests.oracle.difference import Difference, Words

_STRANGER, _DESCRIBER, _PARTIAL = (
    "few rights: stranger",
    "few rights: describer",
    "some rights: partial",
)
_BOTH = (_STRANGER, _DESCRIBER)
ACCESS_DIFFERENCES = (
    *(
        Difference(
            *(api, versions, (_STRANGER,), "error_message", None, NOT_AUTHORIZED),
            "Kafka has no message here.",
        )
        for api, versions in (
            ("describe_client_quotas", "0-1"),
            ("describe_user_scram_credentials", "0"),
        )
    ),
    Difference(
        *("fetch", "4-18", (*_BOTH, _PARTIAL)),
        *("responses[].partitions[].aborted_transactions", MISSING, None),
        "It is null without `read_committed`; it is empty either way.",
    ),
    Difference(
        *("find_coordinator", "1-3", (_STRANGER, _PARTIAL), "error_message"),
        *("Group authorization failed.", None),
        "The error code says so.",
    ),
    Difference(
        *("describe_quorum", "2", (_STRANGER,), "error_message"),
        *("Cluster authorization failed.", NOT_AUTHORIZED),
        "The error code says so.",
    ),
    Difference(
        *("alter_client_quotas", "0-1", _BOTH, "entries[].error_message"),
        *("Cluster authorization failed.", NOT_AUTHORIZED),
        "The error code says so.",
    ),
    Difference(
        *("create_acls", "1-3"),
        tuple(
            f"admin: {step}"
            for step in (
                *("any resource type", "any pattern", "match"),
                *("any operation", "any permission"),
            )
        ),
        *("results[].error_*", Words("-1 for all ACLs"), Words("42 and the reason for one ACL")),
        "Kafka's broker fails on such an ACL, and responds UNKNOWN_SERVER_ERROR.",
    ),
    Difference(
        *("alter_partition_reassignments", "0-1", _BOTH, "responses"),
        *(Words("the error of each partition"), MISSING),
        "The error is that of the whole request.",
    ),
    Difference(
        *("describe_user_scram_credentials", "0", (_STRANGER,), "results"),
        *([{"user": "", "error_code": 31, "error_message": None}], MISSING),
        "The error is that of the whole request.",
    ),
    Difference(
        *("describe_log_dirs", "4", (_DESCRIBER,), "results[].*_bytes"),
        *(Words("of the disk"), -1),
        "The store is in memory.",
    ),
    Difference(
        *("list_config_resources", "1", (_DESCRIBER,), "config_resources[]*"),
        *(Words("with __transaction_state"), Words("without it")),
        "Transactions are not stored in a topic.",
    ),
    Difference(
        *("create_topics", "5-7", (_PARTIAL,), "topics[].configs.min.insync.replicas"),
        *("1 (3)", "1 (5)"),
        "Kafka sets it in its own configuration.",
    ),
    Difference(
        *("describe_topic_partitions", "0", (_PARTIAL,), "topics order"),
        *(Words("refused topics in any order"), Words("refused topics by name")),
        "Clients find topics by name.",
    ),
)
