"""Requests of clients with few rights, by API, where the plain ones would not show the rights."""

from __future__ import annotations

from typing import Any

from tests.fakes.batches import record_batch

OWN_TOPIC, OTHER_TOPIC, NO_TOPIC = "ok-t", "t", "missing"
#: With node.id=1.
BROKER = "1"


def _topics(version: int, ids: dict[str, bytes], first_by_id: int, **rest: Any) -> list[Any]:
    key = rest.pop("key", "name")
    if version >= first_by_id:
        return [{"topic_id": ids[name], **rest} for name in (OTHER_TOPIC, OWN_TOPIC)]
    return [{key: name, **rest} for name in (OTHER_TOPIC, OWN_TOPIC, NO_TOPIC)]


_NO_ACL: dict[str, Any] = {
    "resource_type_filter": 2,
    "resource_name_filter": "none",
    "pattern_type_filter": 3,
    "principal_filter": None,
    "host_filter": None,
    "operation": 3,
    "permission_type": 3,
}
#: In place of requests that are not valid, or whose responses have more than the rights.
PLAIN: dict[str, Any] = {
    # The describer may not create the missing topic.
    "metadata": lambda version: {
        "topics": [{"name": OTHER_TOPIC}, {"name": NO_TOPIC}],
        "allow_auto_topic_creation": True,
        **({"include_topic_authorized_operations": True} if version >= 8 else {}),
        **({"include_cluster_authorized_operations": True} if 8 <= version <= 10 else {}),
    },
    "describe_cluster": {"include_cluster_authorized_operations": True},
    "describe_groups": lambda version: {
        "groups": ["g"],
        **({"include_authorized_operations": True} if version >= 3 else {}),
    },
    "describe_acls": _NO_ACL,
    "delete_acls": {"filters": [_NO_ACL]},
    "create_acls": {
        "creations": [
            {
                "resource_type": 2,
                "resource_name": "t",
                "resource_pattern_type": 3,
                "principal": "User:a",
                "host": "*",
                "operation": 3,
                "permission_type": 3,
            }
        ]
    },
    "describe_configs": {
        "resources": [
            {
                "resource_type": 2,
                "resource_name": "t",
                "configuration_keys": ["retention.ms"],
            }
        ]
    },
    "describe_user_scram_credentials": {"users": [{"name": "a"}]},
}
_NEVER = 99
#: What `partial` sends, by API: about its own resource, and those of others.
MIXED: dict[str, Any] = {
    "produce": lambda v, ids: {
        "acks": -1,
        "topic_data": [
            {**one, "partition_data": [{"index": 0, "records": memoryview(record_batch(["a"]))}]}
            for one in _topics(v, ids, 13)
        ],
    },
    "fetch": lambda v, ids: {
        "max_wait_ms": 0,
        "topics": _topics(v, ids, 13, key="topic", partitions=[{"partition": 0}]),
    },
    "list_offsets": lambda v, ids: {
        "topics": _topics(v, ids, _NEVER, partitions=[{"partition_index": 0, "timestamp": -2}])
    },
    "metadata": lambda v, ids: (
        {"topics": [] if v == 0 else None}
        if v < 12
        else {"topics": [{"topic_id": ids[one], "name": None} for one in (OTHER_TOPIC, OWN_TOPIC)]}
    ),
    "offset_commit": lambda v, ids: {
        "group_id": "ok-g",
        "topics": _topics(
            v,
            ids,
            10,
            partitions=[{"partition_index": 0, "committed_offset": 0, "committed_metadata": None}],
        ),
    },
    "offset_fetch": lambda v, ids: (
        {"group_id": "ok-g", "topics": _topics(v, ids, _NEVER, partition_indexes=[0])}
        if v < 8
        else {
            "groups": [
                {"group_id": "ok-g", "topics": _topics(v, ids, 10, partition_indexes=[0])},
                {"group_id": "g", "topics": None},
            ]
        }
    ),
    "find_coordinator": lambda v, ids: (
        {"key": "g"} if v < 4 else {"coordinator_keys": ["ok-g", "g"]}
    ),
    "describe_groups": lambda v, ids: {"groups": ["g", "ok-none"]},
    "delete_groups": lambda v, ids: {"groups_names": ["g", "ok-none"]},
    "create_topics": lambda v, ids: {
        "validate_only": True,
        "topics": [
            {"name": one, "num_partitions": 1, "replication_factor": 1}
            for one in ("new", "ok-new", OTHER_TOPIC, OWN_TOPIC)
        ],
    },
    "delete_topics": lambda v, ids: (
        {"topic_names": [OTHER_TOPIC, NO_TOPIC, "ok-none"]}
        if v < 6
        else {"topics": [{"name": OTHER_TOPIC}, {"name": NO_TOPIC}, {"name": "ok-none"}]}
    ),
    "delete_records": lambda v, ids: {
        "topics": _topics(v, ids, _NEVER, partitions=[{"partition_index": 0, "offset": 0}])
    },
    "offset_for_leader_epoch": lambda v, ids: {
        "topics": _topics(
            v, ids, _NEVER, key="topic", partitions=[{"partition": 0, "leader_epoch": 0}]
        )
    },
    "add_partitions_to_txn": lambda v, ids: (
        {
            "v3_and_below_transactional_id": "ok-tx",
            "v3_and_below_topics": _topics(v, ids, _NEVER, partitions=[0]),
        }
        if v < 4
        else {}
    ),
    "add_offsets_to_txn": lambda v, ids: {"transactional_id": "ok-tx", "group_id": "g"},
    "txn_offset_commit": lambda v, ids: {
        "transactional_id": "ok-tx",
        "group_id": "ok-g",
        "topics": [
            {
                "name": OTHER_TOPIC,
                "partitions": [{"partition_index": 0, "committed_metadata": None}],
            }
        ],
    },
    "describe_configs": lambda v, ids: {
        "resources": [
            {"resource_type": kind, "resource_name": name, "configuration_keys": ["retention.ms"]}
            for kind, name in (
                (2, OTHER_TOPIC),
                (2, OWN_TOPIC),
                (2, NO_TOPIC),
                (4, BROKER),
                (32, "g"),
            )
        ]
    },
    "alter_configs": lambda v, ids: {
        "validate_only": True,
        "resources": [
            {"resource_type": kind, "resource_name": name, "configs": []}
            for kind, name in ((2, OTHER_TOPIC), (2, OWN_TOPIC), (4, BROKER), (32, "g"))
        ],
    },
    "incremental_alter_configs": lambda v, ids: {
        "validate_only": True,
        "resources": [
            {"resource_type": kind, "resource_name": name, "configs": []}
            for kind, name in ((2, OTHER_TOPIC), (2, OWN_TOPIC), (4, BROKER), (32, "g"))
        ],
    },
    "create_partitions": lambda v, ids: {
        "validate_only": True,
        "topics": _topics(v, ids, _NEVER, count=2, assignments=None),
    },
    "offset_delete": lambda v, ids: {
        "group_id": "ok-g",
        "topics": _topics(v, ids, _NEVER, partitions=[{"partition_index": 0}]),
    },
    "describe_producers": lambda v, ids: {"topics": _topics(v, ids, _NEVER, partition_indexes=[0])},
    "describe_transactions": lambda v, ids: {"transactional_ids": ["tx", "ok-none"]},
    "describe_topic_partitions": lambda v, ids: {
        "topics": [{"name": one} for one in (OTHER_TOPIC, OWN_TOPIC, NO_TOPIC)],
        "response_partition_limit": 10,
    },
    "consumer_group_describe": lambda v, ids: {"group_ids": ["g", "ok-none"]},
    "consumer_group_heartbeat": lambda v, ids: {
        "group_id": "ok-c",
        "member_id": "m",
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": [OWN_TOPIC, OTHER_TOPIC],
        "topic_partitions": [],
    },
    "init_producer_id": lambda v, ids: {"transactional_id": "tx", "transaction_timeout_ms": 1000},
}
