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
    with opened(parsed.store) as (storage, found):
        facts = storage.info
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
        told: dict[str, Any] = {
            "storage": f"{facts.kind}://{facts.path}",
            "store_id": facts.store_id,
            "used_bytes": facts.size_bytes,
            "free_bytes": max(0, facts.size_bytes - facts.live_bytes),
            "committed_offsets": len(offsets_of(found)),
            "committed_offsets_in": found.offsets_place or "the store",
            "doomed_partitions": len(found.topics.doomed_partitions()),
            "power_cut": facts.power_cut,
            "partitions": rows,
        }
    # After it was closed: this looks at the folder as nobody has it.
    with in_words():
        told["last_end"] = stored_at(parsed.store).last_end()
    heads = [f"{name.upper().replace('_', ' '):<21} {_said(told[name])}" for name in _HEADS]
    show(
        told,
        parsed.output,
        "\n".join([*heads, "", table(("topic", "partition", "start_offset", "end_offset"), rows)]),
    )
    return 0


_HEADS = (
    "storage", "store_id", "used_bytes", "free_bytes", "committed_offsets",
    "committed_offsets_in", "doomed_partitions",
)  # fmt: skip


def _said(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def recovered(found: Contents, place: Place) -> Partition:
    """As a start of the broker would see it; raises StorageFailed."""
    config = resolve_topic_config({}, BrokerConfig({}))
    partition = Partition(place.partition_id, place.topic, place.number, config)
    found.partitions.recover(partition)
    return partition


def offsets_of(found: Contents) -> list[OffsetRow]:
    rows: list[OffsetRow] = []
    found.offsets.load(rows.extend, lambda: None)
    return rows
