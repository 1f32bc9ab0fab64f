"""Options of a data source: names, values, and errors in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interfaces.spark.query.failures import WrongOption
from interfaces.suggestions import did_you_mean
from interfaces.terminal.durations import milliseconds

#: Options of a batch, from a broker or a data folder.
READ_OPTIONS = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "startingTimestamp",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "minPartitions",
    "maxRecordsPerPartition",
    "groupIdPrefix",
    "pushDownFilters",
)
#: Options of a stream.
STREAM_OPTIONS = (
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
)
#: Options of requests to a broker; `ottla-segments` ignores them.
CLIENT_OPTIONS = (
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
_CLIENT_PREFIX = "kafka."
_MOST = 2**63 - 1
#: Options that Spark adds for CREATE TABLE ... USING.
_OF_TABLES = ("provider", "owner", "location", "external", "is_managed_location")


class Options:
    """Names are case-insensitive. Spark pickles it."""

    def __init__(self, given: Mapping[str, str], known: Iterable[str]) -> None:
        self._given = {name.lower(): value for name, value in given.items()}
        self._refuse_unknown({name.lower(): name for name in known})

    def _refuse_unknown(self, known: Mapping[str, str]) -> None:
        if any(name in self._given for name in _OF_TABLES):
            raise WrongOption(
                "CREATE TABLE is not supported, as Spark does not pass a table's options on; use "
                "CREATE TEMPORARY VIEW ... USING ... OPTIONS (...)"
            )
        for name in self._given:
            if name in known or name.startswith(_CLIENT_PREFIX):
                continue
            raise WrongOption(f"unknown option {name!r}{did_you_mean(name, known.values())}")

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._given

    def text(self, name: str) -> str | None:
        value = self._given.get(name.lower())
        return None if value is None or not value.strip() else value.strip()

    def number(self, name: str, least: int = 1) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"[+-]?\d{1,19}", text):
            raise WrongOption(f"{name}: {text!r} is not an integer")
        if int(text) > _MOST:
            raise WrongOption(f"{name}: {text} is more than {_MOST}")
        if int(text) < least:
            raise WrongOption(f"{name}: {text} is less than {least}")
        return int(text)

    def number_or(self, name: str, default: int) -> int:
        number = self.number(name, least=0)
        return default if number is None else number

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in ("true", "false"):
            raise WrongOption(f"{name}: {text!r} is not true or false")
        return text.lower() == "true"

    def one_of(self, name: str, values: tuple[str, ...]) -> str:
        """The first of `values` is the default."""
        text = (self.text(name) or values[0]).lower()
        if text not in values:
            raise WrongOption(f"{name}: {text!r} is not one of {', '.join(values)}")
        return text

    def duration_ms(self, name: str, default_ms: int) -> int:
        text = self.text(name)
        try:
            return default_ms if text is None else int(milliseconds(text, "ms"))
        except ValueError as wrong:
            raise WrongOption(f"{name}: {wrong}") from None

    @property
    def for_tasks(self) -> tuple[int | None, int | None]:
        """The minimum number of tasks, and the maximum number of records of a task."""
        return self.number("minPartitions"), self.number("maxRecordsPerPartition")
