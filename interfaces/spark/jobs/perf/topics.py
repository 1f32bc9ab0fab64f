"""The topics of a run: new ones, without records of other clients, and deleted at its end."""

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
    from confluent_kafka.admin import NewTopic

    mark = secrets.token_hex(3)
    names = [f"ottla-perf-{mark}-{number}" for number in range(topics)]
    left = f"topics of this run are left there ({', '.join(names)})"
    broker = Broker(options)
    new = [NewTopic(name, partitions) for name in names]
    failure: JobFailed | None = None
    try:
        created = broker.admin.create_topics(new, request_timeout=patience_s)
        _require(created, options.servers, patience_s)
        yield names
    except JobFailed as failed:
        failure = failed
    finally:
        why = "" if keep else _delete(broker, names, options.servers, patience_s)
        broker.close()
        if failure is not None:
            raise JobFailed(f"{failure}; {left}" if why else str(failure)) from None
        if why:  # the result of the run stands
            complain(f"{left}: {why}")


def _delete(broker: Broker, names: list[str], servers: str, patience_s: float) -> str:
    """Why that failed; empty where it did not."""
    try:
        look(servers)
        deleted = broker.admin.delete_topics(names, request_timeout=patience_s)
        _require(deleted, servers, patience_s)
    except JobFailed as failure:
        return str(failure)
    return ""


def _require(results: Mapping[str, Any], servers: str, patience_s: float) -> None:
    from confluent_kafka import KafkaError, KafkaException

    for topic, response in results.items():
        try:
            response.result(patience_s + 1)
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:  # one that was not created
                raise JobFailed(f"{topic}: {servers}: {error.str()}") from None
        except TimeoutError:
            raise JobFailed(f"{topic}: no response from {servers}") from None
