"""The options of the data source `ottla`: the names that Spark's own Kafka connector has.

Whatever is wrong with them is found before anything is read, and is one line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from socket import gethostname
from typing import Any, TypeVar
from uuid import uuid4

from interfaces.spark.kafka.client_settings import (
    for_librdkafka,
    in_javas_names,
    suggestion,
)
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.options import CLIENT_OPTIONS, READ_OPTIONS, STREAM_OPTIONS, Options

T = TypeVar("T")

PREFIX = "kafka."
_OWN_OPTIONS = ("commitOffsetsToGroup",)
_WRITE_OPTIONS = ("topic", "recordProvenance", "useTimestamp")
#: What Spark says itself to whoever writes a stream.
_OF_SPARK = ("checkpointLocation", "queryName")
_SERVERS = "kafka.bootstrap.servers"
_PATIENCE = "kafkaConsumer.pollTimeoutMs"
_KNOWN = (
    *READ_OPTIONS,
    *STREAM_OPTIONS,
    *CLIENT_OPTIONS,
    *_OWN_OPTIONS,
    *_WRITE_OPTIONS,
    *_OF_SPARK,
    _SERVERS,
)
DEFAULT_PATIENCE_MS = 120_000
DEFAULT_GROUP_PREFIX = "spark-kafka-source"


class KafkaOptions(Options):
    """`given` may spell names in any case; picklable, and opens nothing."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given, _KNOWN)
        self.servers = self._servers()
        self._client = for_librdkafka(self._kafka())
        for name in CLIENT_OPTIONS:
            self.number(name, least=int(name == _PATIENCE))

    def _servers(self) -> str:
        servers = self._given.get(_SERVERS, "")
        if not servers.strip(" ,"):
            raise WrongOption("the option kafka.bootstrap.servers is missing: host:port[,...]")
        return servers

    def _kafka(self) -> dict[str, str]:
        given = self._given.items()
        return {n.removeprefix(PREFIX): value for n, value in given if n.startswith(PREFIX)}

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
            raise WrongOption(self._missing_file() or in_words(refusal, self._kafka())) from None

    def _missing_file(self) -> str:
        """OpenSSL says it in numbers."""
        for name, file in self._client.items():
            if name.endswith(".location") and file != "probe" and not Path(file).exists():
                return f"kafka.{name}: there is no {file} on {gethostname()}"
        return ""

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
        wanted = self.number(_PATIENCE, least=1)
        return (DEFAULT_PATIENCE_MS if wanted is None else wanted) / 1000


def in_words(refusal: BaseException, given: Iterable[str]) -> str:
    from confluent_kafka import KafkaError

    error = refusal.args[0] if refusal.args else refusal
    said = error.str() if isinstance(error, KafkaError) else str(error)
    unknown = re.search(r'No such configuration property: "(.*?)"', said)
    if unknown:
        return f"there is no option kafka.{unknown[1]}{suggestion(unknown[1])}"
    return f"an option kafka.*: {in_javas_names(said, given)}"
