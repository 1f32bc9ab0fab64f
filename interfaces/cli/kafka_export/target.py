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


def target_at(folder: Path, cluster_id: str) -> Target:
    """Raises CommandFailed."""
    how = f"`kafka-storage format -t {cluster_id} -c server.properties --standalone` makes one"
    try:
        there = {one.name for one in folder.iterdir()}
        metadata = {one.name for one in (folder / METADATA).glob("*")}
    except OSError as failure:
        raise CommandFailed(
            f"{folder} is no formatted log folder of Kafka ({failure.strerror}): {how}"
        ) from None
    if surplus := sorted((there - _FORMATTED) | (metadata - {_VOTERS})):
        raise CommandFailed(f"{folder} is in use, it has {surplus[0]}: {how}")
    try:
        values = properties(folder / META_PROPERTIES)
        bootstrap = [
            message.value or b""
            for batch in batches(folder / BOOTSTRAP, 0)
            for message in messages_of(batch)
        ]
    except (FolderRefused, BrokerError) as refused:
        raise CommandFailed(
            f"{folder} is no formatted log folder of Kafka ({refused}): {how}"
        ) from None
    if values.get("cluster.id") != cluster_id:
        raise CommandFailed(
            f"{folder} is formatted for cluster {values.get('cluster.id')}, the store is of "
            f"{cluster_id}: {how}"
        )
    try:
        directory_id = urlsafe_b64decode(values["directory.id"] + "==")
        return Target(folder, int(values["node.id"]), directory_id, bootstrap)
    except (ValueError, KeyError):
        raise CommandFailed(
            f"{folder} is not formatted by Kafka 4, {META_PROPERTIES} lacks node.id or "
            f"directory.id: {how}"
        ) from None
