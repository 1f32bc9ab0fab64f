"""Responses with the unknown partitions first, in Kafka's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Topic = TypeVar("Topic", bound=Any)


def merged(
    missing: dict[object, Topic], found: list[Topic], key: Callable[[Topic], object]
) -> list[Topic]:
    """Each topic is named once, with its unknown partitions before the others."""
    if not missing:
        return found
    topics = dict(missing)
    for one in found:
        known = topics.setdefault(key(one), one)
        if known is not one:
            known.partitions += one.partitions
    return list(topics.values())
