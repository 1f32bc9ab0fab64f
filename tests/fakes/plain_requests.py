"""One plain request for each served API, in any of its versions.

It uses the topic `t`, by TOPIC_ID in versions with topic ids.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.classic_requests import heartbeat_request, join_request, sync_request
from tests.fakes.config_requests import SET, TOPIC
from tests.fakes.structs import Fields, request_for

TOPIC_ID = b"\7" * 16


def _named(version: int, first_by_id: int, key: str = "name") -> Fields:
    return {"topic_id": TOPIC_ID} if version >= first_by_id else {key: "t"}


def _produce(version: int) -> Fields:
    data = {"index": 0, "records": memoryview(record_batch(["a"]))}
    return {"acks": -1, "topic_data": [{**_named(version, 13), "partition_data": [data]}]}


def _fetch(version: int) -> Fields:
    return {"topics": [{**_named(version, 13, "topic"), "partitions": [{"partition": 0}]}]}


def _offset_commit(version: int) -> Fields:
    partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": None}
    topics = [{**_named(version, 10), "partitions": [partition]}]
    return {"group_id": "g", "topics": topics}


def _offset_fetch(version: int) -> Fields:
    if version >= 8:
        return {"groups": [{"group_id": "g", "topics": None}]}
    return {"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]}


def _find_coordinator(version: int) -> Fields:
    return {"coordinator_keys": ["g"]} if version >= 4 else {"key": "g"}


def _leave_group(version: int) -> Fields:
    member: Fields = {"member_id": "m"}
    return {"group_id": "g", **({"members": [member]} if version >= 3 else member)}


def _delete_topics(version: int) -> Fields:
    return {"topics": [{"name": "t"}]} if version >= 6 else {"topic_names": ["t"]}


def _add_partitions_to_txn(version: int) -> Fields:
    topics = [{"name": "t", "partitions": [0]}]
    if version >= 4:
        return {"transactions": [{"transactional_id": "tx", "topics": topics}]}
    return {"v3_and_below_transactional_id": "tx", "v3_and_below_topics": topics}


_CONFIG = {"name": "retention.ms", "value": "1"}
_RESOURCE = {"resource_type": TOPIC, "resource_name": "t"}

#: APIs that are not here have requests without fields.
_FIELDS: dict[str, Fields | Callable[[int], Fields]] = {
    "produce": _produce,
    "fetch": _fetch,
    "list_offsets": {"topics": [{"name": "t", "partitions": [{"partition_index": 0}]}]},
    "metadata": {"topics": [{"name": "t"}]},
    "offset_commit": _offset_commit,
    "offset_fetch": _offset_fetch,
    "offset_delete": {
        "group_id": "g",
        "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}],
    },
    "delete_groups": {"groups_names": ["g"]},
    "find_coordinator": _find_coordinator,
    "leave_group": _leave_group,
    "describe_groups": {"groups": ["g"]},
    "api_versions": {"client_software_name": "c", "client_software_version": "1"},
    "create_topics": {"topics": [{"name": "t", "num_partitions": 1, "replication_factor": 1}]},
    "delete_topics": _delete_topics,
    "delete_records": {
        "topics": [{"name": "t", "partitions": [{"partition_index": 0, "offset": 0}]}]
    },
    "describe_log_dirs": {"topics": None},
    "init_producer_id": {"transactional_id": None},
    "offset_for_leader_epoch": {
        "topics": [{"topic": "t", "partitions": [{"partition": 0, "leader_epoch": 0}]}]
    },
    "add_partitions_to_txn": _add_partitions_to_txn,
    "add_offsets_to_txn": {"transactional_id": "tx", "group_id": "g"},
    "end_txn": {"transactional_id": "tx"},
    "txn_offset_commit": {
        "transactional_id": "tx",
        "group_id": "g",
        "topics": [
            {"name": "t", "partitions": [{"partition_index": 0, "committed_metadata": None}]}
        ],
    },
    "describe_transactions": {"transactional_ids": ["tx"]},
    "describe_producers": {"topics": [{"name": "t", "partition_indexes": [0]}]},
    "write_txn_markers": {
        "markers": [{"producer_id": 1, "topics": [{"name": "t", "partition_indexes": [0]}]}]
    },
    "describe_configs": {
        "resources": [{**_RESOURCE, "configuration_keys": None}],
        "include_synonyms": True,
    },
    "alter_configs": {"resources": [{**_RESOURCE, "configs": [_CONFIG]}]},
    "create_partitions": {"topics": [{"name": "t", "count": 2, "assignments": None}]},
    "incremental_alter_configs": {
        "resources": [{**_RESOURCE, "configs": [{**_CONFIG, "config_operation": SET}]}]
    },
    "describe_topic_partitions": {"topics": [{"name": "t"}]},
    "consumer_group_heartbeat": {
        "group_id": "g",
        "member_id": "m",
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": ["t"],
        "topic_partitions": [],
    },
    "consumer_group_describe": {"group_ids": ["a-group-that-is-not"]},
    "create_acls": {"creations": [{"resource_name": "t"}]},
    "delete_acls": {"filters": [{"resource_name_filter": "t"}]},
    "alter_client_quotas": {
        "entries": [
            {
                "entity": [{"entity_type": "user", "entity_name": "u"}],
                "ops": [{"key": "producer_byte_rate", "value": 1e9}],
            }
        ]
    },
    "elect_leaders": {"topic_partitions": [{"topic": "t", "partitions": [0]}]},
    "alter_replica_log_dirs": {
        "dirs": [{"path": "memory", "topics": [{"name": "t", "partitions": [0]}]}]
    },
    "update_features": {"feature_updates": [{"feature": "group.version", "max_version_level": 1}]},
    "unregister_broker": {"broker_id": 9},
    "alter_partition_reassignments": {"topics": [{"name": "t", "partitions": [{"replicas": [1]}]}]},
    "describe_user_scram_credentials": {"users": None},
    "alter_user_scram_credentials": {
        "upsertions": [
            {
                "name": "u",
                "mechanism": 1,
                "iterations": 4096,
                "salt": b"sixteen bytes ok",
                "salted_password": b"s" * 32,
            }
        ]
    },
}


def _request(name: str, version: int) -> Request:
    fields = _FIELDS.get(name, {})
    return request_for(name, **(fields(version) if callable(fields) else fields))


REQUESTS: dict[str, Callable[[int], Request]] = {
    **{api.name: partial(_request, api.name) for api in APIS},
    "join_group": lambda version: join_request(
        group_id="joined", instance_id="i" if version >= 5 else None
    ),
    "heartbeat": lambda version: heartbeat_request(1, "m"),
    "sync_group": lambda version: sync_request(1, "m"),
}


def plain_request(name: str, version: int, topic_id: bytes) -> Request:
    """Topic `t` has this id."""
    request: Any = REQUESTS[name](version)
    for data in getattr(request, "topic_data", None) or getattr(request, "topics", None) or ():
        if getattr(data, "topic_id", None) == TOPIC_ID:
            data.topic_id = topic_id
    found: Request = request
    return found
