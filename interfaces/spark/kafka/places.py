"""Where reading starts and ends, as options say it; which of them wins is as in the connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from interfaces.spark.failures import WrongOption
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.partitions_json import numbers_of
from interfaces.spark.kafka.ranges import Place

EARLIEST, LATEST, OFFSETS, TIMES = "earliest", "latest", "offsets", "times"
#: In JSON of offsets.
LATEST_OFFSET, EARLIEST_OFFSET = -1, -2


@dataclass(frozen=True)
class Where:
    """`values` are offsets or milliseconds of each partition; `time_ms` is one for all of them."""

    option: str
    kind: str
    values: Mapping[Place, int] = field(default_factory=dict)
    time_ms: int | None = None
    #: No record is that young: the end of the log, instead of a failure.
    or_latest: bool = True

    def time_of(self, place: Place) -> int:
        return self.values[place] if self.time_ms is None else self.time_ms

    def check(self, places: Iterable[Place]) -> None:
        """JSON must name exactly the partitions that are read: a forgotten one would be lost."""
        if self.kind == OFFSETS or (self.kind == TIMES and self.time_ms is None):
            wanted = set(places)
            for missing in sorted(wanted - self.values.keys()):
                raise WrongOption(f"{self.option} does not name {missing}, which is read")
            for extra in sorted(self.values.keys() - wanted):
                raise WrongOption(f"{self.option} names {extra}, which is not read or not there")


def start_of_batch(options: KafkaOptions) -> Where:
    where = _start(options, EARLIEST)
    _refuse(where, LATEST, LATEST_OFFSET, "reading a batch cannot start at the end")
    return where


def end_of_batch(options: KafkaOptions) -> Where:
    where = _where(options, "ending", LATEST)
    _refuse(where, EARLIEST, EARLIEST_OFFSET, "reading a batch cannot end at the start")
    return where


def check_order(option: str, starts: Mapping[Place, int], ends: Mapping[Place, int]) -> None:
    """A start that was named and is beyond the end fails, whatever failOnDataLoss says."""
    for place, start in starts.items():
        if start > ends[place]:
            raise WrongOption(f"{option}: {place} starts at {start}, after its end, {ends[place]}")


def start_of_stream(options: KafkaOptions) -> Where:
    for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
        if name in options:
            raise WrongOption(f"{name}: a stream has no end; read a batch for that")
    return _start(options, LATEST)


def _start(options: KafkaOptions, default: str) -> Where:
    strategy = options.one_of("startingOffsetsByTimestampStrategy", ("error", "latest"))
    return _where(options, "starting", default, strategy == "latest")


def _where(options: KafkaOptions, which: str, default: str, or_latest: bool = True) -> Where:
    for_all, by_time, by_offset = (
        f"{which}Timestamp",
        f"{which}OffsetsByTimestamp",
        f"{which}Offsets",
    )
    if (moment := options.number(for_all, least=0)) is not None:
        return Where(for_all, TIMES, time_ms=moment, or_latest=or_latest)
    if text := options.text(by_time):
        times = numbers_of(by_time, text)
        for place, time_ms in times.items():
            if time_ms < 0:
                raise WrongOption(f"{by_time}: {time_ms} of {place} is less than 0")
        return Where(by_time, TIMES, times, or_latest=or_latest)
    text = options.text(by_offset) or default
    if text.lower() in (EARLIEST, LATEST):
        return Where(by_offset, text.lower())
    if not text.startswith("{"):
        raise WrongOption(
            f"{by_offset}: {text!r} is neither earliest nor latest "
            'nor JSON like {"topic": {"0": 23}}'
        )
    offsets = numbers_of(by_offset, text)
    for place, offset in offsets.items():
        if offset < EARLIEST_OFFSET:
            raise WrongOption(f"{by_offset}: {offset} of {place} is no offset")
    return Where(by_offset, OFFSETS, offsets)


def _refuse(where: Where, kind: str, offset: int, why: str) -> None:
    if where.kind == kind:
        raise WrongOption(f"{where.option}: {kind}, but {why}")
    if where.kind == OFFSETS:
        for place, wanted in where.values.items():
            if wanted == offset:
                raise WrongOption(f"{where.option}: {offset} ({kind}) of {place}, but {why}")
