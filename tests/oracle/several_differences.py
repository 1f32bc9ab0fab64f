"""Differences from the recording because there are three brokers, and Kafka was one."""

from __future__ import annotations

from tests.oracle.compare import MISSING
from tests.oracle.difference import Difference, Words

_WHY = "Kafka was one node when it was recorded."
_UNKNOWN = Words("no such broker is registered")
_LISTED = (
    *(f"types: {one}" for one in ("brokers", "loggers", "brokers and loggers", "one type twice")),
    "groups: groups and brokers",
)
_CREATED = ("assignments: two brokers", "numbers: 1 partitions, 2 replicas")

SEVERAL = (
    *(
        Difference(api, versions, ("*",), field, MISSING, Words("brokers 2 and 3"), _WHY)
        for api, versions, field in (
            ("metadata", "0-13", "brokers[]"),
            ("describe_cluster", "0-2", "brokers[]"),
            ("describe_quorum", "2", "nodes[]"),
        )
    ),
    Difference(
        *("list_config_resources", "1", _LISTED, "config_resources[]*"),
        *(Words("one broker"), Words("three brokers"), _WHY),
    ),
    Difference(
        *("alter_partition_reassignments", "0-1", ("refusals: a second replica",)),
        *("responses[].partitions[].error_*", _UNKNOWN, Words("reassigned")),
        _WHY,
        (("responses[].partitions[].error_code", 39, 0),),
    ),
    Difference(
        *("alter_partition_reassignments", "1", ("fixed replication factor: more",)),
        *("responses[].partitions[].error_*", _UNKNOWN, Words("the factor is changed")),
        _WHY,
        (("responses[].partitions[].error_code", 39, 38),),
    ),
    Difference(
        *("create_partitions", "0-3", ("refusals: two replicas",)),
        *("results[].error_message", _UNKNOWN, Words("other partitions have one replica")),
        _WHY,
    ),
    Difference(
        *("create_topics", "2-7", _CREATED),
        *("topics[].*", Words("refused"), Words("created")),
        _WHY,
    ),
    Difference(
        *("create_topics", "2-7", ("numbers: 1 partitions, 32767 replicas",)),
        *("topics[].error_message", Words("one broker"), Words("three brokers")),
        _WHY,
    ),
)
