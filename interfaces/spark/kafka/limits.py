"""maxOffsetsPerTrigger: how many records a micro-batch reads from each partition."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.spark.query.ranges import Offsets, Place


def limited(start: Mapping[Place, int], end: Mapping[Place, int], most: int) -> Offsets:
    """New ends, at most about `most` records away, shared in proportion to the lag.

    A partition with any lag gets at least one record, as with the connector.
    """
    lag = {place: max(0, end[place] - start[place]) for place in end}
    total = sum(lag.values())
    if total <= most:
        return dict(end)
    # Integers throughout: a float does not hold large offsets.
    return {
        place: start[place] + max(1, lag[place] * most // total) if lag[place] else end[place]
        for place in end
    }
