"""Topic: a name, an id that is never reused, and the store ids of its partitions."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping

from domain.errors import BrokerError, InvalidRequest, InvalidTopic, UnknownTopicOrPartition

MAX_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)

#: Lag exporters request it; it must not be created automatically.
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
#: With `offsets.topic=on` the broker writes them.
WRITTEN_TOPICS = (OFFSETS_TOPIC, TRANSACTION_TOPIC)
#: Kafka's topics of committed offsets, transactions and share groups.
INTERNAL_TOPICS = frozenset((*WRITTEN_TOPICS, "__share_group_state"))
#: The log of Kafka's controllers (KRaft).
CLUSTER_METADATA = "__cluster_metadata"

#: Means "no id" on the wire; no topic has it.
NO_TOPIC_ID = bytes(16)


def text_of_id(topic_id: bytes) -> str:
    """In the format of Kafka's tools."""
    return urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def check_topic_name(name: str) -> None:
    """Raises for illegal names, with Kafka's messages."""
    if not name:
        raise InvalidTopic("Topic name is invalid: the empty string is not allowed")
    if name in (".", ".."):
        raise InvalidTopic(f"Topic name is invalid: '{name}' is not allowed")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidTopic(
            f"Topic name is invalid: the length of '{name}' is longer than "
            f"the max allowed length {MAX_NAME_LENGTH}"
        )
    if not _LEGAL_NAME.fullmatch(name):
        raise InvalidTopic(
            f"Topic name is invalid: '{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )


def check_new_topic_name(name: str) -> None:
    """Raises for names that clients cannot create; Kafka has this message for the first one."""
    check_topic_name(name)
    prohibited = f"Creation of internal topic {name} is prohibited."
    if name == CLUSTER_METADATA:
        raise InvalidRequest(prohibited)
    if name in INTERNAL_TOPICS:
        raise InvalidTopic(prohibited)


def not_writable_error(name: str) -> BrokerError:
    """The error of produce requests for an unknown or internal topic."""
    if name in INTERNAL_TOPICS:
        return InvalidTopic(f"Cannot append to internal topic {name}.")
    return UnknownTopicOrPartition(f"There is no topic {name}")


def collision_key(name: str) -> str:
    """Kafka refuses topics that differ only in '.' and '_', which collide in metric names."""
    return name.replace(".", "_")


class Topic:
    """Immutable: the catalogue replaces a changed topic."""

    __slots__ = ("configs", "is_internal", "name", "partition_ids", "topic_id")

    def __init__(
        self,
        name: str,
        topic_id: bytes,
        partition_ids: tuple[int, ...],
        configs: Mapping[str, str],
    ) -> None:
        self.name = name
        self.is_internal = name in INTERNAL_TOPICS
        self.topic_id = topic_id
        self.partition_ids = partition_ids
        self.configs = configs

    def grown(self, more_partition_ids: tuple[int, ...]) -> Topic:
        return Topic(
            self.name, self.topic_id, self.partition_ids + more_partition_ids, self.configs
        )

    def configured(self, configs: Mapping[str, str]) -> Topic:
        return Topic(self.name, self.topic_id, self.partition_ids, configs)

    def __repr__(self) -> str:
        return f"Topic({self.name!r}, {len(self.partition_ids)} partitions)"
