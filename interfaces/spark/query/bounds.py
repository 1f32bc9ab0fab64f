"""Where reading starts and ends, as options say it; which of them wins is as in the connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.options import Options
from interfaces.spark.query.partitions_json import numbers_of
from interfaces.spark.query.ranges import Place

#: Instead of an offset: an edge of the log.
LATEST, EARLIEST = -1, -2
_EDGES = {"latest": LATEST, "earliest": EARLIEST}


@dataclass(frozen=True)
class Where:
    """An offset or an edge of each partition, or, if `are_times`, milliseconds."""

    option: str
    #: Of all partitions, where `of_places` is None.
    of_all: int = 0
    of_places: Mapping[Place, int] | None = None
    are_times: bool = False
    #: No record is that young: the end of the log, instead of a failure.
    or_latest: bool = True

    @property
    def is_edge(self) -> bool:
        """Of each log, whatever is in it."""
        return self.of_places is None and not self.are_times

    def of(self, place: Place) -> int:
        return self.of_all if self.of_places is None else self.of_places[place]

    def check(self, places: Iterable[Place]) -> None:
        """JSON must name exactly the partitions that are read: a forgotten one would be lost."""
        if self.of_places is None:
            return
        wanted = set(places)
        for missing in sorted(wanted - self.of_places.keys()):
            raise WrongOption(f"{self.option} does not name {missing}, which is read")
        for extra in sorted(self.of_places.keys() - wanted):
            raise WrongOption(f"{self.option} names {extra}, which is not read or not there")

    def check_order(
        self, ending: Where, starts: Mapping[Place, int], ends: Mapping[Place, int]
    ) -> None:
        """A start beyond the end fails, whatever failOnDataLoss says and however both were said."""
        if self.is_edge and ending.is_edge:
            return
        for place, start in starts.items():
            if start > ends[place]:
                raise WrongOption(
                    f"{self.option}: {place} starts at {start}, after its end, {ends[place]}"
                    f"{'' if ending.is_edge else f' ({ending.option})'}"
                )

    def has_none(self, place: Place) -> JobFailed:
        """For a time that no record is as young as, where that is a failure."""
        return JobFailed(
            f"{self.option}: {place} has no record of {self.of(place)} or later "
            "(startingOffsetsByTimestampStrategy=latest starts at its end then)"
        )


def start_of_batch(options: Options) -> Where:
    where = _start(options, "earliest")
    _refuse(where, "latest", "reading a batch cannot start at the end")
    return where


def end_of_batch(options: Options) -> Where:
    where = _where(options, "ending", "latest")
    _refuse(where, "earliest", "reading a batch cannot end at the start")
    return where


def start_of_stream(options: Options) -> Where:
    for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
        if name in options:
            raise WrongOption(f"{name}: a stream has no end; read a batch for that")
    return _start(options, "latest")


def _start(options: Options, default: str) -> Where:
    strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"))
    return _where(options, "starting", default, strategy == "latest")


def _where(options: Options, which: str, default: str, or_latest: bool = True) -> Where:
    for_all, by_time, by_offset = (
        f"{which}Timestamp",
        f"{which}OffsetsByTimestamp",
        f"{which}Offsets",
    )
    if (moment := options.number(for_all, least=0)) is not None:
        return Where(for_all, moment, are_times=True, or_latest=or_latest)
    if text := options.text(by_time):
        times = numbers_of(by_time, text)
        for place, time_ms in times.items():
            if time_ms < 0:
                raise WrongOption(f"{by_time}: {time_ms} of {place} is less than 0")
        return Where(by_time, of_places=times, are_times=True, or_latest=or_latest)
    text = options.text(by_offset) or default
    if (edge := _EDGES.get(text.lower())) is not None:
        return Where(by_offset, edge)
    if not text.startswith("{"):
        raise WrongOption(
            f"{by_offset}: {text!r} is neither earliest nor latest "
            'nor JSON like {"topic": {"0": 23}}'
        )
    offsets = numbers_of(by_offset, text)
    for place, offset in offsets.items():
        if offset < EARLIEST:
            raise WrongOption(f"{by_offset}: {offset} of {place} is no offset")
    return Where(by_offset, of_places=offsets)


def _refuse(where: Where, edge: str, why: str) -> None:
    if where.are_times:
        return
    if where.of_places is None and where.of_all == _EDGES[edge]:
        raise WrongOption(f"{where.option}: {edge}, but {why}")
    for place, offset in (where.of_places or {}).items():
        if offset == _EDGES[edge]:
            raise WrongOption(f"{where.option}: {offset} ({edge}) of {place}, but {why}")
