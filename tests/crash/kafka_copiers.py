"""Kafka's own copier, `org.apache.kafka.tools.TransactionalMessageCopier`, in place of ours."""

from __future__ import annotations

from typing import Any

from tests.crash.chain import Chain
from tests.crash.copier import GROUP, MOST_RECORDS, PARTITIONS, SOURCE, TARGET
from tests.oracle.kafka import find_jars

_COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"
_SMALL = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class KafkaChain(Chain):
    """A copier ends at the end of its partitions, and is started again."""

    PAUSES_S = (0.5, 2.0)
    PATIENCE_S = 40.0
    DIES_WITHIN_S = 5.0

    def __init__(self, *arguments: Any, grouped: bool = True, **named: Any) -> None:
        self.jars, self.grouped = find_jars(), grouped
        super().__init__(*arguments, **named)
        if not grouped:
            self.members = PARTITIONS

    def command(self, member: int) -> list[str]:
        options = {
            "broker-list": self.bootstrap,
            "input-topic": SOURCE,
            "input-partition": str(member),
            "output-topic": TARGET,
            "consumer-group": GROUP,
            "transactional-id": f"copier-{member}",
            "transaction-size": str(MOST_RECORDS),
        }
        pairs = [part for name, value in options.items() for part in (f"--{name}", value)]
        java = ["java", *_SMALL, "-cp", f"{self.jars}/*", _COPIER]
        flags = ["--enable-random-aborts", "--use-group-metadata"]
        return [*java, *pairs, *flags, *(["--group-mode"] if self.grouped else [])]

    def confirmed(self) -> dict[str, bool]:
        """Copies do not name their transactions."""
        return {}
