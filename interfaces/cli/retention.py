"""What retention and compaction do next with a topic: by its configs, oldest records and sizes.

Over the Kafka protocol, so for any broker. Apache Kafka removes whole segments, and so later.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from domain.configs.settings.definition import LONG_MAX
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.log_dirs import replicas
from interfaces.cli.moments import in_words
from interfaces.cli.positions import Place, oldest_timestamp
from interfaces.terminal import durations
from interfaces.terminal.endings import complain

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_OF_COMPACTION = {
    *("min.cleanable.dirty.ratio", "segment.bytes", "segment.ms"),
    *("min.compaction.lag.ms", "max.compaction.lag.ms"),
}


def retention_of(
    clients: Clients, admin: AdminClient, places: list[Place], configs: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Of the partitions of one topic. None: no limit, no record with a timestamp, or not known."""
    values = {one["name"]: one["value"] for one in configs}
    policy = values["cleanup.policy"]
    deletes = "delete" in policy
    limit_ms, limit_bytes = (
        int(values[f"retention.{unit}"]) if deletes else -1 for unit in ("ms", "bytes")
    )
    oldest_ms = oldest_timestamp(clients, admin, places)
    expires_ms = None if oldest_ms is None or limit_ms < 0 else oldest_ms + limit_ms
    return {
        "cleanup_policy": policy,
        "ms": limit_ms if limit_ms >= 0 else None,
        "bytes": limit_bytes if limit_bytes >= 0 else None,
        "oldest_timestamp": None if oldest_ms is None else in_words(oldest_ms),
        "oldest_in_future": oldest_ms is not None and oldest_ms > time.time() * 1000,
        "expires_at": None if expires_ms is None else in_words(expires_ms),
        "largest_partition": _largest(clients, admin, places) if limit_bytes >= 0 else None,
    }


def compaction_of(configs: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """None: the topic is not compacted, or its broker lacks one of the configs."""
    values = {one["name"]: one["value"] for one in configs}
    if "compact" not in values["cleanup.policy"] or not values.keys() >= _OF_COMPACTION:
        return None
    longest_ms = int(values["max.compaction.lag.ms"])
    return {
        "min_dirty_ratio": float(values["min.cleanable.dirty.ratio"]),
        "segment_bytes": int(values["segment.bytes"]),
        "segment_ms": min(int(values["segment.ms"]), longest_ms),
        "min_lag_ms": int(values["min.compaction.lag.ms"]),
        "max_lag_ms": longest_ms if longest_ms < LONG_MAX else None,
    }


def _largest(clients: Clients, admin: AdminClient, places: list[Place]) -> int | None:
    try:
        found, _ = replicas(clients, admin)
    except CommandFailed as failure:
        complain(str(failure))
        return None
    return max((one.size for one in found if (one.topic, one.partition) in places), default=None)


def lines(retention: Mapping[str, Any]) -> Iterable[str]:
    limits = [] if retention["ms"] is None else [durations.in_words(retention["ms"])]
    if retention["bytes"] is not None:
        limits.append(f"{retention['bytes']} bytes")
        if retention["largest_partition"] is not None:
            limits.append(f"the largest partition has {retention['largest_partition']}")
    policy = retention["cleanup_policy"]
    if "delete" in policy:
        limits = limits or ["no limit"]
        if "compact" in policy:
            limits.append("and compacted")
    else:
        limits = [f"no limit (cleanup.policy{f'={policy}' if policy else ' is empty'})"]
    yield f"RETENTION   {', '.join(limits)}"
    if retention["oldest_timestamp"]:
        expires = f", expires {retention['expires_at']}" if retention["expires_at"] else ""
        future = ""
        if retention["oldest_in_future"]:
            future = f" (in the future{': retains the records behind it' if expires else ''})"
        yield f"OLDEST      {retention['oldest_timestamp']}{expires}{future}"


def compaction_line(compaction: Mapping[str, Any]) -> str:
    due = f"when more than {compaction['min_dirty_ratio']:.0%} is dirty"
    if compaction["max_lag_ms"] is not None:
        due += f" or {durations.in_words(compaction['max_lag_ms'])} old"
    segment = (
        f"{compaction['segment_bytes']} bytes or {durations.in_words(compaction['segment_ms'])}"
    )
    young = ""
    if compaction["min_lag_ms"]:
        young = f", nor records younger than {durations.in_words(compaction['min_lag_ms'])}"
    return f"COMPACTION  {due}; not the active segment (up to {segment}){young}"
