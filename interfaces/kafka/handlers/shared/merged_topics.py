"""Answers that say first which partitions are not there, as Kafka puts them together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Topic = TypeVar("Topic", bound=Any)


def merged(
    missing: dict[object, Topic], answered: list[Topic], key: Callable[[Topic], object]
) -> list[Topic]:
    """A topic of which some partitions are missing is named once, with those in front."""
    if not missing:
        return answered
    topics = dict(missing)
    for one in answered:
        there = topics.setdefault(key(one), one)
        if there is not one:
            there.partitions += one.partitions
    return list(topics.values())
