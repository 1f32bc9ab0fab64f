"""The folder that an export writes: formatted by `kafka-storage format`, and otherwise empty."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from pathlib import Path
from typing import NamedTuple

from domain.errors import BrokerError
from infrastructure.kafka_folder.checkpoints import properties
from infrastructure.kafka_folder.files import BOOTSTRAP, META_PROPERTIES
from infrastructure.kafka_folder.folder import METADATA_TOPIC
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.kafka_folder.segment import batches, messages_of
from interfaces.cli.failures import CommandFailed

METADATA = f"{METADATA_TOPIC}-0"
_FORMATTED = {META_PROPERTIES, BOOTSTRAP, METADATA}
#: Of a new metadata log: who may vote.
_VOTERS = "00000000000000000000-0000000000.checkpoint"


class Target(NamedTuple):
    folder: Path
    node_id: int
    directory_id: bytes
    #: The values of the metadata records that Kafka's tool has left: features, and users.
    bootstrap: list[bytes]


class _Unfit(Exception):
    pass


def target_at(folder: Path, cluster_id: str) -> Target:
    """Raises CommandFailed."""
    try:
        return _target(folder, cluster_id)
    except _Unfit as why:
        how = f"kafka-storage format -t {cluster_id} -c server.properties --standalone"
        raise CommandFailed(f"{folder} {why}; make a new one by `{how}`") from None


def _target(folder: Path, cluster_id: str) -> Target:
    try:
        there = {one.name for one in folder.iterdir()}
        metadata = {one.name for one in (folder / METADATA).iterdir()}
    except OSError as failure:
        raise _Unfit(
            f"is no formatted log folder of Kafka, {failure.filename}: {failure.strerror}"
        ) from None
    if surplus := sorted((there - _FORMATTED) | (metadata - {_VOTERS})):
        raise _Unfit(f"is in use, it has {surplus[0]}: delete it")
    try:
        values = properties(folder / META_PROPERTIES)
        bootstrap = [
            message.value or b""
            for batch in batches(folder / BOOTSTRAP, 0)
            for message in messages_of(batch)
        ]
    except (FolderRefused, BrokerError) as refused:
        raise _Unfit(f"is no formatted log folder of Kafka, {refused}") from None
    if values.get("cluster.id") != cluster_id:
        raise _Unfit(
            f"is formatted for cluster {values.get('cluster.id')}, the store is of {cluster_id}"
        )
    try:
        directory_id = urlsafe_b64decode(values["directory.id"] + "==")
        return Target(folder, int(values["node.id"]), directory_id, bootstrap)
    except (ValueError, KeyError):
        raise _Unfit(
            f"is not formatted by Kafka 4, {META_PROPERTIES} lacks node.id or directory.id"
        ) from None
