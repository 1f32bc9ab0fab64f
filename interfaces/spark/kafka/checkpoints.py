"""Offsets in a checkpoint of Spark: {"topic": {"0": 23}}, as written by the connector.

Spark compares them as text, so they are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interfaces.spark.query.failures import JobFailed
from interfaces.spark.query.ranges import Offsets, Place


def written(offsets: Mapping[Place, int]) -> dict[str, dict[str, int]]:
    of_topics: dict[str, dict[str, int]] = {}
    for place in sorted(offsets):
        of_topics.setdefault(place.topic, {})[str(place.partition)] = offsets[place]
    return of_topics


def read(text: Mapping[str, Any]) -> Offsets:
    try:
        return {
            Place(topic, int(number)): int(offset)
            for topic, offsets in text.items()
            for number, offset in offsets.items()
        }
    except (AttributeError, ValueError, TypeError):
        raise JobFailed(f"the checkpoint is of another source: {str(text)[:200]}") from None
