"""Topics of a run: new ones, so that nobody else's records are among them, and removed again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from interfaces.spark.kafka.broker import Broker
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed
from interfaces.terminal.endings import complain


@contextmanager
def topics_of(
    options: KafkaOptions, topics: int, partitions: int, patience_s: float, keep: bool
) -> Iterator[list[str]]:
    broker = Broker(options)
    own = _Topics(broker, options.servers, patience_s)
    try:
        yield own.made(topics, partitions)
    except JobFailed as failure:
        told = str(failure)
        left = [] if keep else own.removed()
        raise JobFailed("; ".join([told, *(each for each in left if each not in told)])) from None
    except BaseException:
        _tell([] if keep else own.removed())
        raise
    else:
        _tell([] if keep else own.removed())
    finally:
        broker.close()


def _tell(left: list[str]) -> None:
    """The run is what it is all the same."""
    if left:
        complain(": ".join(left))


class _Topics:
    def __init__(self, broker: Broker, servers: str, patience_s: float) -> None:
        self._broker = broker
        self._servers = servers
        self._patience_s = patience_s
        self._made: list[str] = []

    def made(self, topics: int, partitions: int) -> list[str]:
        from confluent_kafka.admin import NewTopic

        mark = secrets.token_hex(3)
        new = [NewTopic(f"ottla-perf-{mark}-{number}", partitions) for number in range(topics)]
        asked = self._broker.admin.create_topics(new, request_timeout=self._patience_s)
        self._made = list(asked)
        if failures := self._failures(asked):
            self._made = [topic for topic in asked if topic not in failures]
            raise next(iter(failures.values()))
        return self._made

    def removed(self) -> list[str]:
        """Where not all could be: what is left there, and why."""
        if not self._made:
            return []
        try:
            look(self._servers)
        except JobFailed as gone:
            return [f"topics of this run are left there ({', '.join(self._made)})", str(gone)]
        asked = self._broker.admin.delete_topics(self._made, request_timeout=self._patience_s)
        failures = self._failures(asked)
        left = f"topics of this run are left there ({', '.join(failures)})"
        return [left, str(next(iter(failures.values())))] if failures else []

    def _failures(self, asked: Mapping[str, Any]) -> dict[str, JobFailed]:
        from confluent_kafka import KafkaException

        found = {}
        for topic, answer in asked.items():
            try:
                answer.result(self._patience_s + 1)
            except KafkaException as failure:
                found[topic] = JobFailed(f"{topic}: {self._servers}: {failure.args[0].str()}")
            except TimeoutError:
                found[topic] = JobFailed(f"{topic}: no answer from {self._servers}")
        return found
