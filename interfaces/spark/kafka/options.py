"""The options of the data source `ottla`, with the names of Spark's own Kafka connector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from interfaces.spark.kafka.client_settings import for_librdkafka
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.options import CLIENT_OPTIONS, READ_OPTIONS, STREAM_OPTIONS, Options
from interfaces.terminal.java_options import renamed_in

T = TypeVar("T")

PREFIX = "kafka."
_OWN_OPTIONS = ("commitOffsetsToGroup",)
_WRITE_OPTIONS = ("topic", "exactlyOnce", "recordProvenance", "useTimestamp")
#: Spark passes its own options of a streaming query on to the data source.
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
    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given, _KNOWN)
        self.servers = self._servers()
        self._client = for_librdkafka(self._kafka())
        for name in CLIENT_OPTIONS:
            self.number(name, least=int(name == _PATIENCE))

    def _servers(self) -> str:
        servers = self._given.get(_SERVERS, "")
        if not servers.strip(" ,"):
            raise WrongOption("option kafka.bootstrap.servers is missing: host:port[,...]")
        return servers

    def _kafka(self) -> dict[str, str]:
        given = self._given.items()
        return {n.removeprefix(PREFIX): value for n, value in given if n.startswith(PREFIX)}

    def client(self, **more: Any) -> dict[str, Any]:
        """Settings of a confluent-kafka client; `more` has `_` for `.`. Given settings win."""
        ours = {"client.id": "ottla-spark", "log_level": 0}
        dotted = {
            name.replace("_", ".") if name != "error_cb" else name: more[name] for name in more
        }
        return ours | dotted | self._client

    def made(self, make: Callable[[dict[str, Any]], T], **more: Any) -> T:
        """A client; raises WrongOption for settings that librdkafka refuses."""
        from confluent_kafka import KafkaException

        try:
            return make(self.client(**more))
        except (KafkaException, ValueError, TypeError) as refusal:
            raise WrongOption(self._missing_file() or self._reason(refusal)) from None

    def _missing_file(self) -> str:
        """OpenSSL reports a missing file as an error number."""
        for name, file in self._client.items():
            if name.endswith(".location") and file != "probe" and not Path(file).exists():
                return f"option kafka.{name}: there is no file {file}"
        return ""

    def _reason(self, refusal: BaseException) -> str:
        """librdkafka's own sentence, with the names of settings as they were given."""
        from confluent_kafka import KafkaError

        error = refusal.args[0] if refusal.args else refusal
        reason = (error.str() if isinstance(error, KafkaError) else str(error)).strip()
        for name, renamed in renamed_in(self._kafka()).items():
            reason = reason.replace(f'"{renamed}"', f'"{name}"')
        return reason

    def group(self) -> str:
        """kafka.group.id, or a new group for each query, named as by the connector."""
        given = self._client.get("group.id")
        prefix = self.text("groupIdPrefix") or DEFAULT_GROUP_PREFIX
        return given or f"{prefix}-{uuid4()}"

    @property
    def own_group(self) -> str | None:
        return self._client.get("group.id")

    @property
    def isolation(self) -> str:
        return self._client.get("isolation.level", "read_uncommitted").lower()

    @property
    def patience_s(self) -> float:
        """A read fails when no record arrives for so long."""
        return self.number_or(_PATIENCE, DEFAULT_PATIENCE_MS) / 1000
