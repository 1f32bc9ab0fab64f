"""THE table of the APIs that are served, one row each; ApiVersions responds from it.

To add one: its messages in `wire/messages/`, its handler in `handlers/`, and a row here.
"""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from domain.security.access import Operation, ResourceType

PRODUCE = 0
FETCH = 1
JOIN_GROUP = 11
SYNC_GROUP = 14


class Refusal(Enum):
    """What is refused without a right."""

    #: The elements of an array that name the resource; the whole request if the field is no array.
    ELEMENTS = "elements"
    WHOLE = "whole"
    #: The handler checks the right.
    BY_HANDLER = "by handler"


class Need(NamedTuple):
    """A right that the principal needs."""

    operation: Operation
    #: None: the request names it.
    resource_type: ResourceType | None
    #: The fields with the resource names: which of them is used depends on the version.
    fields: str
    refusal: Refusal = Refusal.ELEMENTS


_ALTER = Operation.ALTER
_ALTER_CONFIGS = Operation.ALTER_CONFIGS
_CLUSTER_ACTION = Operation.CLUSTER_ACTION
_CREATE = Operation.CREATE
_DELETE = Operation.DELETE
_DESCRIBE = Operation.DESCRIBE
_DESCRIBE_CONFIGS = Operation.DESCRIBE_CONFIGS
_IDEMPOTENT_WRITE = Operation.IDEMPOTENT_WRITE
_READ = Operation.READ
_WRITE = Operation.WRITE
_TOPIC, _GROUP, _CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
_TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
_WHOLE, _BY_HANDLER = Refusal.WHOLE, Refusal.BY_HANDLER


class Api:
    """`min_version` and `max_version` are advertised; the handler works from `first_served` on.

    `needs` are the operations that the principal must be allowed, as in Kafka.
    """

    __slots__ = ("first_served", "key", "max_version", "min_version", "name", "needs")

    def __init__(
        self,
        key: int,
        name: str,
        min_version: int,
        max_version: int,
        *needs: tuple[Operation, ResourceType | None, str]
        | tuple[Operation, ResourceType | None, str, Refusal],
        first_served: int | None = None,
    ) -> None:
        self.key = key
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.needs = tuple(Need(*one) for one in needs)
        self.first_served = min_version if first_served is None else first_served

    def serves(self, version: int) -> bool:
        return self.first_served <= version <= self.max_version

    @property
    def title(self) -> str:
        return title_of(self.name)

    def handler(self) -> ModuleType:
        return import_module(f"..handlers.{self.name}", __package__)

    def messages(self) -> ModuleType:
        return import_module(f"..wire.messages.{self.name}", __package__)


def title_of(name: str) -> str:
    """The name of an API in Kafka's spelling: `list_offsets` is ListOffsets."""
    return "".join(word.capitalize() for word in name.split("_"))


# fmt: off
APIS: tuple[Api, ...] = (
    # librdkafka requires Produce 0 in the ApiVersions response, and does not send it (KAFKA-18659).
    Api(0, "produce", 0, 13,
        (_WRITE, _TOPIC, "topic_data"), (_WRITE, _TRANSACTIONAL_ID, "transactional_id"),
        first_served=3),
    Api(1, "fetch", 4, 18, (_READ, _TOPIC, "topics", _BY_HANDLER)),
    Api(2, "list_offsets", 1, 11, (_DESCRIBE, _TOPIC, "topics")),
    Api(3, "metadata", 0, 13),
    Api(8, "offset_commit", 2, 10, (_READ, _GROUP, "group_id"), (_READ, _TOPIC, "topics")),
    Api(9, "offset_fetch", 1, 10,
        (_DESCRIBE, _GROUP, "group_id groups"),
        (_DESCRIBE, _TOPIC, "topics groups.topics", _BY_HANDLER)),
    Api(10, "find_coordinator", 0, 6, (_DESCRIBE, None, "key coordinator_keys")),
    Api(11, "join_group", 0, 9, (_READ, _GROUP, "group_id")),
    Api(12, "heartbeat", 0, 4, (_READ, _GROUP, "group_id")),
    Api(13, "leave_group", 0, 5, (_READ, _GROUP, "group_id")),
    Api(14, "sync_group", 0, 5, (_READ, _GROUP, "group_id")),
    Api(15, "describe_groups", 0, 6, (_DESCRIBE, _GROUP, "groups")),
    Api(16, "list_groups", 0, 5),
    Api(17, "sasl_handshake", 0, 1),
    Api(18, "api_versions", 0, 4),
    Api(19, "create_topics", 2, 7, (_CREATE, _TOPIC, "topics")),
    Api(20, "delete_topics", 1, 6, (_DELETE, _TOPIC, "topics topic_names", _BY_HANDLER)),
    Api(21, "delete_records", 0, 2, (_DELETE, _TOPIC, "topics")),
    Api(22, "init_producer_id", 0, 5,
        (_IDEMPOTENT_WRITE, _CLUSTER, "", _BY_HANDLER),
        (_WRITE, _TRANSACTIONAL_ID, "transactional_id")),
    Api(23, "offset_for_leader_epoch", 2, 4, (_DESCRIBE, _TOPIC, "topics")),
    Api(24, "add_partitions_to_txn", 0, 5,
        (_WRITE, _TRANSACTIONAL_ID, "v3_and_below_transactional_id"),
        (_WRITE, _TOPIC, "v3_and_below_topics", _BY_HANDLER),
        (_CLUSTER_ACTION, _CLUSTER, "", _BY_HANDLER)),
    Api(25, "add_offsets_to_txn", 0, 4,
        (_WRITE, _TRANSACTIONAL_ID, "transactional_id"), (_READ, _GROUP, "group_id")),
    Api(26, "end_txn", 0, 5, (_WRITE, _TRANSACTIONAL_ID, "transactional_id")),
    Api(27, "write_txn_markers", 1, 2, (_ALTER, _CLUSTER, "", _BY_HANDLER)),
    Api(28, "txn_offset_commit", 0, 5,
        (_WRITE, _TRANSACTIONAL_ID, "transactional_id"), (_READ, _GROUP, "group_id"),
        (_READ, _TOPIC, "topics")),
    Api(29, "describe_acls", 1, 3, (_DESCRIBE, _CLUSTER, "")),
    Api(30, "create_acls", 1, 3, (_ALTER, _CLUSTER, "")),
    Api(31, "delete_acls", 1, 3, (_ALTER, _CLUSTER, "")),
    Api(32, "describe_configs", 1, 4, (_DESCRIBE_CONFIGS, None, "resources")),
    Api(33, "alter_configs", 0, 2, (_ALTER_CONFIGS, None, "resources")),
    Api(34, "alter_replica_log_dirs", 1, 2, (_ALTER, _CLUSTER, "")),
    Api(35, "describe_log_dirs", 1, 4, (_DESCRIBE, _CLUSTER, "")),
    Api(36, "sasl_authenticate", 0, 2),
    Api(37, "create_partitions", 0, 3, (_ALTER, _TOPIC, "topics")),
    Api(42, "delete_groups", 0, 2, (_DELETE, _GROUP, "groups_names")),
    Api(43, "elect_leaders", 0, 2, (_ALTER, _CLUSTER, "")),
    Api(44, "incremental_alter_configs", 0, 1, (_ALTER_CONFIGS, None, "resources")),
    Api(45, "alter_partition_reassignments", 0, 1, (_ALTER, _CLUSTER, "")),
    Api(46, "list_partition_reassignments", 0, 0, (_DESCRIBE, _CLUSTER, "")),
    Api(47, "offset_delete", 0, 0, (_DELETE, _GROUP, "group_id"), (_READ, _TOPIC, "topics")),
    Api(48, "describe_client_quotas", 0, 1, (_DESCRIBE_CONFIGS, _CLUSTER, "")),
    Api(49, "alter_client_quotas", 0, 1, (_ALTER_CONFIGS, _CLUSTER, "")),
    Api(50, "describe_user_scram_credentials", 0, 0, (_DESCRIBE, _CLUSTER, "")),
    Api(51, "alter_user_scram_credentials", 0, 0, (_ALTER, _CLUSTER, "")),
    Api(55, "describe_quorum", 0, 2, (_DESCRIBE, _CLUSTER, "")),
    Api(57, "update_features", 0, 2, (_ALTER, _CLUSTER, "")),
    Api(60, "describe_cluster", 0, 2),
    Api(61, "describe_producers", 0, 0, (_READ, _TOPIC, "topics")),
    Api(64, "unregister_broker", 0, 0, (_ALTER, _CLUSTER, "")),
    Api(65, "describe_transactions", 0, 0,
        (_DESCRIBE, _TRANSACTIONAL_ID, "transactional_ids")),
    Api(66, "list_transactions", 0, 2),
    Api(68, "consumer_group_heartbeat", 0, 1,
        (_READ, _GROUP, "group_id"), (_DESCRIBE, _TOPIC, "subscribed_topic_names", _WHOLE)),
    Api(69, "consumer_group_describe", 0, 1, (_DESCRIBE, _GROUP, "group_ids")),
    Api(74, "list_config_resources", 0, 1, (_DESCRIBE_CONFIGS, _CLUSTER, "")),
    Api(75, "describe_topic_partitions", 0, 0),
)
# fmt: on

BY_KEY: dict[int, Api] = {api.key: api for api in APIS}
