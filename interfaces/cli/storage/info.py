"""`ottla storage info`."""

from __future__ import annotations

import argparse
from typing import Any

from application.ports.offset_repository import OffsetRow
from domain.configs.broker import BrokerConfig
from domain.configs.topic import resolve_topic_config
from domain.partitions.partition import Partition
from infrastructure.opening import Contents
from interfaces.cli.output import show, table
from interfaces.cli.storage.opened import Place, in_words, opened, places, stored_at


def info(parsed: argparse.Namespace) -> int:
    closed = stored_at(parsed.store)
    with opened(parsed.store) as (storage, found):
        engine = storage.info
        rows = []
        for place in places(found):
            partition = recovered(found, place)
            rows.append(
                {
                    "topic": place.topic,
                    "partition": place.number,
                    "start_offset": partition.log_start_offset,
                    "end_offset": partition.end.next_offset,
                }
            )
        facts: dict[str, Any] = {
            "storage": f"{engine.kind}://{engine.path}" if engine.path else closed.shown,
            "store_id": engine.store_id,
            "file_bytes": engine.size_bytes,
            "free_bytes": max(0, engine.size_bytes - engine.live_bytes),
            "objects": None if storage.objects is None else storage.objects.shown,
            "object_bytes": 0 if storage.objects is None else storage.objects.sizes().in_objects,
            "committed_offsets": len(offsets_of(found)),
            "committed_offsets_in": found.offsets_place or "the store",
            "deleted_partitions": len(found.topics.doomed_partitions()),
            "power_cut": engine.power_cut,
            "partitions": rows,
        }
    # After the store is closed: this reads the folder.
    with in_words():
        facts["last_end"] = closed.last_end()
    named = [name for name in _HEADS if facts["objects"] or name not in _OF_OBJECTS]
    heads = [f"{name.upper().replace('_', ' '):<21} {_shown(facts[name])}" for name in named]
    show(
        facts,
        parsed.output,
        "\n".join([*heads, "", table(("topic", "partition", "start_offset", "end_offset"), rows)]),
    )
    return 0


_HEADS = (
    "storage", "store_id", "file_bytes", "free_bytes", "objects", "object_bytes",
    "committed_offsets", "committed_offsets_in", "deleted_partitions",
)  # fmt: skip
_OF_OBJECTS = ("objects", "object_bytes")


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def recovered(found: Contents, place: Place) -> Partition:
    """As at a start of the broker; raises StorageFailed."""
    config = resolve_topic_config({}, BrokerConfig({}))
    partition = Partition(place.partition_id, place.topic, place.number, config)
    found.partitions.recover(partition)
    return partition


def offsets_of(found: Contents) -> list[OffsetRow]:
    rows: list[OffsetRow] = []
    found.offsets.load(rows.extend, lambda: None)
    return rows
