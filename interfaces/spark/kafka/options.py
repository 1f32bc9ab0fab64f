"""The options of the data source `ottla`: the names that Spark's own Kafka connector has.

Whatever is wrong with them is found before anything is read, and is one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar
from uuid import uuid4

from interfaces.spark.failures import WrongOption
from interfaces.spark.kafka.client_settings import for_librdkafka, suggestion

T = TypeVar("T")

PREFIX = "kafka."
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
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "groupIdPrefix",
    "commitOffsetsToGroup",
    "pushDownFilters",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
WRITE_OPTIONS = ("topic", "recordProvenance", "useTimestamp")
#: What Spark says itself to whoever writes a stream.
_OF_SPARK = ("checkpointLocation", "queryName")
#: Of how the connector keeps its consumers; those that mean something here are named above.
_WITHOUT_MEANING = ("kafkaconsumer.", "fetchoffset.")
DEFAULT_PATIENCE_MS = 120_000
DEFAULT_GROUP_PREFIX = "spark-kafka-source"

_TIME = re.compile(r"\s*(\d+)\s*(ms|s|m|min|h|d)?\s*", re.IGNORECASE)
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class KafkaOptions:
    """`given` may spell names in any case; picklable, and opens nothing."""

    def __init__(self, given: Mapping[str, str], more: Iterable[str] = ()) -> None:
        self._given = {name.lower(): value for name, value in given.items()}
        self._refuse_unknown(
            {name.lower(): name for name in (*READ_OPTIONS, *WRITE_OPTIONS, *_OF_SPARK, *more)}
        )
        self.servers = self._servers()
        self._client = for_librdkafka(self._kafka())

    def _refuse_unknown(self, known: dict[str, str]) -> None:
        for name in self._given:
            if name in known or name.startswith((PREFIX, *_WITHOUT_MEANING)):
                continue
            close = get_close_matches(name, [*known, "kafka.bootstrap.servers"], 1, 0.75)
            hint = f"; did you mean {known.get(close[0], close[0])}?" if close else ""
            raise WrongOption(f"there is no option {name!r}{hint}")

    def _servers(self) -> str:
        servers = self._given.get("kafka.bootstrap.servers", "")
        if not servers.strip(" ,"):
            raise WrongOption("the option kafka.bootstrap.servers is missing: host:port[,...]")
        return servers

    def _kafka(self) -> dict[str, str]:
        given = self._given.items()
        return {n.removeprefix(PREFIX): value for n, value in given if n.startswith(PREFIX)}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._given

    def client(self, **more: Any) -> dict[str, Any]:
        """For a client of confluent-kafka; `more` has `_` for `.`, and what was given wins."""
        ours = {"client.id": "ottla-spark", "log_level": 0}
        dotted = {
            name.replace("_", ".") if name != "error_cb" else name: more[name] for name in more
        }
        return ours | dotted | self._client

    def made(self, make: Callable[[dict[str, Any]], T], **more: Any) -> T:
        """A client; what librdkafka does not take of its settings is a WrongOption."""
        from confluent_kafka import KafkaException

        try:
            return make(self.client(**more))
        except (KafkaException, ValueError, TypeError) as refusal:
            raise WrongOption(in_words(refusal)) from None

    def group(self) -> str:
        """As the connector names it: one of its own for each query, unless it is given."""
        given = self._client.get("group.id")
        prefix = self.text("groupIdPrefix") or DEFAULT_GROUP_PREFIX
        return given or f"{prefix}-{uuid4()}"

    @property
    def own_group(self) -> str | None:
        return self._client.get("group.id")

    @property
    def isolation(self) -> str:
        return self._client.get("isolation.level", "read_uncommitted")

    @property
    def patience_s(self) -> float:
        """How long nothing may come from a broker before a read fails."""
        wanted = self.number("kafkaConsumer.pollTimeoutMs", least=1)
        return (DEFAULT_PATIENCE_MS if wanted is None else wanted) / 1000

    def text(self, name: str) -> str | None:
        value = self._given.get(name.lower())
        return None if value is None or not value.strip() else value.strip()

    def number(self, name: str, least: int = 1) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"[+-]?\d{1,18}", text):
            raise WrongOption(f"{name}: {text!r} is no whole number")
        if int(text) < least:
            raise WrongOption(f"{name}: {text} is less than {least}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in ("true", "false"):
            raise WrongOption(f"{name}: {text!r} is neither true nor false")
        return text.lower() == "true"

    def one_of(self, name: str, values: tuple[str, ...]) -> str:
        """The first of `values` is the default."""
        text = (self.text(name) or values[0]).lower()
        if text not in values:
            raise WrongOption(f"{name}: {text!r} is none of {', '.join(values)}")
        return text

    def duration_ms(self, name: str, default_ms: int) -> int:
        text = self.text(name)
        if text is None:
            return default_ms
        found = _TIME.fullmatch(text)
        if not found:
            raise WrongOption(f"{name}: {text!r} is no time like 500ms, 30s, 15m or 1h")
        return int(found[1]) * _UNIT_MS[(found[2] or "ms").lower()]


def in_words(refusal: BaseException) -> str:
    from confluent_kafka import KafkaError

    error = refusal.args[0] if refusal.args else refusal
    said = error.str() if isinstance(error, KafkaError) else str(error)
    unknown = re.search(r'No such configuration property: "(.*?)"', said)
    if unknown:
        return f"there is no option kafka.{unknown[1]}{suggestion(unknown[1])}"
    return f"an option kafka.*: {said}"
