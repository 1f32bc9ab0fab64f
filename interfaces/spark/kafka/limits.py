"""How much a micro-batch takes of what waits."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.spark.query.ranges import Offsets, Place


def limited(start: Mapping[Place, int], end: Mapping[Place, int], most: int) -> Offsets:
    """Ends at most `most` records away altogether, each partition by its share of what waits.

    A partition with anything at all gets one record, so that none is starved.
    """
    waiting = {place: max(0, end[place] - start[place]) for place in end}
    total = sum(waiting.values())
    if total <= most:
        return dict(end)
    # Whole numbers throughout: a float would not hold large offsets.
    return {
        place: start[place] + max(1, waiting[place] * most // total)
        if waiting[place]
        else end[place]
        for place in end
    }
