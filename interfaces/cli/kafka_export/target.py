"""The folder that an export writes: formatted by `kafka-storage format`, and otherwise empty."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from pathlib import Path
from typing import NamedTuple

from domain.errors import BrokerError
from domain.messages.batch import CONTROL, batches_in
from domain.messages.message import decode_messages
from infrastructure.kafka_folder.files import BOOTSTRAP, META_PROPERTIES
from interfaces.cli.failures import CommandFailed

METADATA = "__cluster_metadata-0"
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
        text = (folder / META_PROPERTIES).read_text()
        bootstrap = (folder / BOOTSTRAP).read_bytes()
        metadata = {one.name for one in (folder / METADATA).glob("*")}
    except OSError as failure:
        raise CommandFailed(
            f"{folder} is no formatted log folder of Kafka ({failure.strerror}): {how}"
        ) from None
    if surplus := sorted((there - _FORMATTED) | (metadata - {_VOTERS})):
        raise CommandFailed(f"{folder} is in use, it has {surplus[0]}: {how}")
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if values.get("cluster.id") != cluster_id:
        raise CommandFailed(
            f"{folder} is formatted for cluster {values.get('cluster.id')}, the store is of "
            f"{cluster_id}: {how}"
        )
    try:
        directory_id = urlsafe_b64decode(values["directory.id"] + "==")
        return Target(folder, int(values["node.id"]), directory_id, _records(bootstrap))
    except (ValueError, KeyError, BrokerError) as damage:
        raise CommandFailed(f"{folder} is not formatted by Kafka 4: {damage!r}; {how}") from None


def _records(checkpoint: bytes) -> list[bytes]:
    found: list[bytes] = []
    for batch in batches_in(checkpoint):
        if not batch.attributes & CONTROL:
            messages = decode_messages(batch.records, 0, 0, batch.count)
            found += [message.value or b"" for message in messages]
    return found
