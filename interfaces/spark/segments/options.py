"""What may be said to `ottla-segments`, in the words of Spark's Kafka connector where it has them.

Raises WrongOption in one line. `kafka.` options mean nothing without a broker and are passed over,
so that a query moves by its format's name and a path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from interfaces.spark.failures import WrongOption

EARLIEST, LATEST, OFFSET, TIME = "earliest", "latest", "offset", "time"
_LATEST_OFFSET, _EARLIEST_OFFSET = -1, -2

_CHOICES = ("topic", "subscribe", "subscribePattern", "assign")
_KNOWN = (
    "path", *_CHOICES, "startingOffsets", "endingOffsets", "startingTimestamp", "endingTimestamp",
    "startingOffsetsByTimestamp", "endingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy", "failOnDataLoss", "includeHeaders", "includeBatches",
    "minPartitions", "maxRecordsPerPartition",
)  # fmt: skip
#: Of Spark's connector: they say how a broker is asked.
_PASSED_OVER = ("fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "groupIdPrefix",
                "kafkaConsumer.pollTimeoutMs")  # fmt: skip


class Bound(NamedTuple):
    """Where a partition is begun or ended: at an edge of the log, an offset, or a time in ms."""

    kind: str
    value: int = 0


class Bounds(NamedTuple):
    option: str
    everywhere: Bound
    #: None: they are the same everywhere.
    of_places: dict[tuple[str, int], Bound] | None = None

    def of(self, topic: str, partition: int) -> Bound:
        if self.of_places is None:
            return self.everywhere
        return self.of_places[topic, partition]

    def check(self, places: Iterable[tuple[str, int]]) -> None:
        """JSON names exactly the partitions that are read: a forgotten one would be missed."""
        if self.of_places is None:
            return
        wanted = set(places)
        for topic, partition in sorted(wanted - self.of_places.keys()):
            raise WrongOption(f"{self.option} does not name {topic}-{partition}, which is read")
        for topic, partition in sorted(self.of_places.keys() - wanted):
            raise WrongOption(
                f"{self.option} names {topic}-{partition}, which is not read or not there"
            )


class Choice(NamedTuple):
    """Which topics: these, those that a pattern fits, these partitions of these, or all."""

    names: tuple[str, ...] | None = None
    pattern: re.Pattern[str] | None = None
    partitions: dict[str, tuple[int, ...]] | None = None


class SegmentsOptions:
    def __init__(self, options: Mapping[str, str]) -> None:
        self._given = {name.lower(): str(value) for name, value in options.items()}
        self._check_names(options)
        self.url = self._url()
        self.choice = self._choice()
        self.starting = self._bounds("starting", EARLIEST)
        self.ending = self._bounds("ending", LATEST)
        self.latest_if_too_new = (
            self._one_of("startingOffsetsByTimestampStrategy", ("error", "latest")) == "latest"
        )
        self.fail_on_data_loss = self._flag("failOnDataLoss", True)
        self.include_headers = self._flag("includeHeaders", False)
        self.include_batches = self._flag("includeBatches", False)
        self.min_partitions = self._count("minPartitions")
        self.max_records = self._count("maxRecordsPerPartition")

    def _check_names(self, options: Mapping[str, str]) -> None:
        known = {name.lower(): name for name in (*_KNOWN, *_PASSED_OVER)}
        for name in options:
            if name.lower() in known or name.lower().startswith("kafka."):
                continue
            near = get_close_matches(name.lower(), known, 1)
            hint = f"; did you mean {known[near[0]]}?" if near else ""
            raise WrongOption(f"ottla-segments has no option {name!r}{hint}")

    def _url(self) -> str:
        path = self._given.get("path", "").strip()
        if not path:
            raise WrongOption("which data folder? .load(FOLDER), or .option('path', FOLDER)")
        scheme, separator, place = path.partition("://")
        if separator and scheme not in ("lmdb", "file"):
            raise WrongOption(f"{path!r} is no data folder of this machine")
        folder = place if separator else path.removeprefix("file:")
        return f"lmdb://{Path(folder).absolute()}"

    # ---- which partitions

    def _choice(self) -> Choice:
        given = [name for name in _CHOICES if name.lower() in self._given]
        if len(given) > 1:
            raise WrongOption(f"{given[0]} and {given[1]} exclude each other")
        if not given:
            return Choice()
        name, value = given[0], self._given[given[0].lower()]
        if name == "assign":
            return Choice(partitions=_assigned(value))
        if name == "subscribePattern":
            try:
                return Choice(pattern=re.compile(value))
            except re.error as wrong:
                raise WrongOption(f"subscribePattern {value!r} is no pattern: {wrong}") from None
        names = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
        if not names:
            raise WrongOption(f"{name} names no topic")
        return Choice(names)

    # ---- from where to where

    def _bounds(self, edge: str, whole: str) -> Bounds:
        """A time for all comes first, then times of partitions, then offsets; as in Spark."""
        for_all, by_time, by_offset = (
            f"{edge}Timestamp", f"{edge}OffsetsByTimestamp", f"{edge}Offsets",
        )  # fmt: skip
        if for_all.lower() in self._given:
            text = self._given[for_all.lower()]
            if not text.isdigit():
                raise WrongOption(f"{for_all} is a time in milliseconds since 1970, not {text!r}")
            return Bounds(for_all, Bound(TIME, int(text)))
        if by_time.lower() in self._given:
            times = _of_places(by_time, self._given[by_time.lower()])
            if any(time < 0 for time in times.values()):
                raise WrongOption(f"{by_time} has a time before 1970")
            return Bounds(
                by_time, Bound(whole), {place: Bound(TIME, t) for place, t in times.items()}
            )
        text = self._given.get(by_offset.lower(), whole).strip()
        if text.lower() == whole:
            return Bounds(by_offset, Bound(whole))
        if text.lower() in (EARLIEST, LATEST):
            raise WrongOption(f"{by_offset} can not be {text.lower()}: nothing would be read")
        bounds = {}
        for place, offset in _of_places(by_offset, text).items():
            if offset == (_LATEST_OFFSET if whole == LATEST else _EARLIEST_OFFSET):
                bounds[place] = Bound(whole)
            elif offset >= 0:
                bounds[place] = Bound(OFFSET, offset)
            else:
                topic, partition = place
                raise WrongOption(f"{by_offset} can not be {offset} for {topic}-{partition}")
        return Bounds(by_offset, Bound(whole), bounds)

    # ---- plain values

    def _flag(self, name: str, default: bool) -> bool:
        text = self._given.get(name.lower(), str(default)).strip().lower()
        if text not in ("true", "false"):
            raise WrongOption(f"{name} is true or false, not {text!r}")
        return text == "true"

    def _count(self, name: str) -> int | None:
        text = self._given.get(name.lower())
        if text is None:
            return None
        if not text.strip().isdigit() or int(text) < 1:
            raise WrongOption(f"{name} is a number from 1 on, not {text!r}")
        return int(text)

    def _one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        text = self._given.get(name.lower(), allowed[0]).strip().lower()
        if text not in allowed:
            raise WrongOption(f"{name} is {' or '.join(allowed)}, not {text!r}")
        return text


def _assigned(text: str) -> dict[str, tuple[int, ...]]:
    """Of {"topic": [0, 1]}."""
    value = _json("assign", text)
    wrong = WrongOption(f'assign is like {{"topic": [0, 1]}}, not {text!r}')
    if not isinstance(value, dict) or not value:
        raise wrong
    for numbers in value.values():
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise wrong
    return {topic: tuple(sorted(set(numbers))) for topic, numbers in value.items()}


def _of_places(name: str, text: str) -> dict[tuple[str, int], int]:
    """Of {"topic": {"0": 23}}."""
    value = _json(name, text)
    wrong = WrongOption(f'{name} is like {{"topic": {{"0": 23}}}}, not {text!r}')
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise wrong
    found: dict[tuple[str, int], int] = {}
    for topic, numbers in value.items():
        for number, wanted in numbers.items():
            if not number.isdigit() or type(wanted) is not int:
                raise wrong
            found[topic, int(number)] = wanted
    return found


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise WrongOption(f"{name} is not JSON: {text!r}") from None
