"""The options for the start and the end of reading, with the connector's precedence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.options import Options
from interfaces.spark.query.partitions_json import numbers_of
from interfaces.spark.query.ranges import Place

#: Special offsets, with the connector's numbers.
LATEST, EARLIEST = -1, -2
_EDGES = {"latest": LATEST, "earliest": EARLIEST}


@dataclass(frozen=True)
class Bound:
    """An offset or an edge for each partition, or, if `are_times`, a timestamp in ms."""

    option: str
    #: For all partitions if `of_places` is None.
    of_all: int = 0
    of_places: Mapping[Place, int] | None = None
    are_times: bool = False
    #: Without a record of that timestamp or later: the end of the log, instead of a failure.
    or_latest: bool = True

    @property
    def is_edge(self) -> bool:
        """Earliest or latest of all partitions."""
        return self.of_places is None and not self.are_times

    def of(self, place: Place) -> int:
        return self.of_all if self.of_places is None else self.of_places[place]

    def check(self, places: Iterable[Place]) -> None:
        """JSON must name exactly the partitions that are read, as in the connector."""
        if self.of_places is None:
            return
        read = set(places)
        for missing in sorted(read - self.of_places.keys()):
            raise WrongOption(f"{self.option} does not name {missing}, which is read")
        for extra in sorted(self.of_places.keys() - read):
            raise WrongOption(f"{self.option} names {extra}, which is not read")

    def check_order(
        self, ending: Bound, starts: Mapping[Place, int], ends: Mapping[Place, int]
    ) -> None:
        """A start after the end fails, whatever failOnDataLoss is."""
        if self.is_edge and ending.is_edge:
            return
        for place, start in starts.items():
            if start > ends[place]:
                raise WrongOption(
                    f"{self.option}: {place} starts at {start}, after its end, {ends[place]}"
                    f"{'' if ending.is_edge else f' ({ending.option})'}"
                )

    def has_none(self, place: Place) -> JobFailed:
        """The failure for a timestamp that is later than all records."""
        return JobFailed(
            f"{self.option}: {place} has no record of {self.of(place)} or later "
            "(startingOffsetsByTimestampStrategy=latest starts at the end instead)"
        )


def start_of_batch(options: Options) -> Bound:
    bound = _start(options, "earliest")
    _refuse(bound, "latest", "a batch cannot start at the end")
    return bound


def end_of_batch(options: Options) -> Bound:
    bound = _bound(options, "ending", "latest")
    _refuse(bound, "earliest", "a batch cannot end at the start")
    return bound


def start_of_stream(options: Options) -> Bound:
    for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
        if name in options:
            raise WrongOption(f"{name}: a stream has no end")
    return _start(options, "latest")


def _start(options: Options, default: str) -> Bound:
    strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"))
    return _bound(options, "starting", default, strategy == "latest")


def _bound(options: Options, which: str, default: str, or_latest: bool = True) -> Bound:
    for_all, by_time, by_offset = (
        f"{which}Timestamp",
        f"{which}OffsetsByTimestamp",
        f"{which}Offsets",
    )
    if (time_ms := options.number(for_all, least=0)) is not None:
        return Bound(for_all, time_ms, are_times=True, or_latest=or_latest)
    if text := options.text(by_time):
        times = numbers_of(by_time, text)
        for place, time_ms in times.items():
            if time_ms < 0:
                raise WrongOption(f"{by_time}: {time_ms} of {place} is negative")
        return Bound(by_time, of_places=times, are_times=True, or_latest=or_latest)
    text = options.text(by_offset) or default
    if (edge := _EDGES.get(text.lower())) is not None:
        return Bound(by_offset, edge)
    if not text.startswith("{"):
        raise WrongOption(
            f'{by_offset}: {text!r} is not earliest, latest, or JSON like {{"topic": {{"0": 23}}}}'
        )
    offsets = numbers_of(by_offset, text)
    for place, offset in offsets.items():
        if offset < EARLIEST:
            raise WrongOption(f"{by_offset}: {offset} of {place} is not an offset")
    return Bound(by_offset, of_places=offsets)


def _refuse(bound: Bound, edge: str, why: str) -> None:
    values = [bound.of_all] if bound.of_places is None else bound.of_places.values()
    if not bound.are_times and _EDGES[edge] in values:
        raise WrongOption(f"{bound.option}: {edge} ({_EDGES[edge]}), but {why}")
