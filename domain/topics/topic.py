"""Topic: a name, an id that is never reused, and the store ids of its partitions."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping

from domain.errors import InvalidTopic

MAX_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)

#: Sixteen zero bytes stand for "no id" on the wire, so no topic ever gets them.
NO_TOPIC_ID = bytes(16)


def text_of_id(topic_id: bytes) -> str:
    """As Kafka's tools write it."""
    return urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def check_topic_name(name: str) -> None:
    """Refuses what Kafka refuses, with Kafka's words."""
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


def collision_key(name: str) -> str:
    """Kafka lets no two topics differ only in '.' and '_': metric names fold them together."""
    return name.replace(".", "_")


class Topic:
    """Immutable; a change makes a new Topic that the catalogue swaps in."""

    __slots__ = ("configs", "name", "partition_ids", "topic_id")

    def __init__(
        self,
        name: str,
        topic_id: bytes,
        partition_ids: tuple[int, ...],
        configs: Mapping[str, str],
    ) -> None:
        self.name = name
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
