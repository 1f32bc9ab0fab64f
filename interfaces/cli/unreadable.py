"""Unreadable: the partitions that a consumer waits for because its broker cannot read them.

librdkafka repeats a Fetch with KAFKA_STORAGE_ERROR for ever and does not report it. So a consumer
that receives nothing asks for the same offsets itself; they are in librdkafka's statistics.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from interfaces.cli.failures import CommandFailed
from interfaces.terminal.addresses import Address
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from interfaces.cli.client import Clients

#: Of a consumer that is watched.
OPTIONS = {"statistics_interval_ms": 2000}
_LOOK_EVERY_S = 2.0
_VERSION = 4
_STORAGE_ERROR = 56

#: Topic, partition, offset.
Position = tuple[str, int, int]


class Unreadable:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        #: With the time at which it was first refused.
        self._refused: dict[Position, float] = {}
        self._next_look = 0.0

    def look(self, silent_since: float) -> None:
        """Prints what is refused, once. Raises CommandFailed if it is for --timeout."""
        now = time.monotonic()
        if now < max(self._next_look, silent_since + _LOOK_EVERY_S):
            return
        before, self._refused = self._refused, {}
        for address, positions in waiting(json.loads(self._clients.statistics)).items():
            for one in self._refused_by(address, positions):
                self._refused[one] = before.get(one, now)
                if one not in before:
                    self._clients.note(f"{_words(one)} (still waiting)")
        for one, since in self._refused.items():
            if now - since > self._clients.timeout_s:
                raise CommandFailed(_words(one))
        self._next_look = time.monotonic() + _LOOK_EVERY_S

    def check(self) -> None:
        """Raises CommandFailed if something is refused."""
        for one in self._refused:
            raise CommandFailed(_words(one))

    def _refused_by(self, address: Address, positions: list[Position]) -> Iterator[Position]:
        from interfaces.kafka.wire.messages.fetch import (
            FetchPartition,
            FetchRequest,
            FetchResponse,
            FetchTopic,
        )

        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1,
            topics=[
                FetchTopic(
                    topic=topic,
                    partitions=[
                        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1)
                    ],
                )
                for topic, index, offset in positions
            ],
        )
        try:
            with self._clients.wire("the records", address) as client:
                response = client.send(request, _VERSION, FetchResponse)
        except CommandFailed:  # librdkafka reports connections that fail
            return
        refused = {
            (topic.topic, one.partition_index)
            for topic in response.responses
            for one in topic.partitions
            if one.error_code == _STORAGE_ERROR
        }
        yield from (one for one in positions if one[:2] in refused)


def waiting(statistics: Mapping[str, Any]) -> dict[Address, list[Position]]:
    """What a consumer fetches and is not at the end of, by leader."""
    nodes = {one["nodeid"]: one["nodename"] for one in statistics.get("brokers", {}).values()}
    found: dict[Address, list[Position]] = {}
    for name, topic in statistics.get("topics", {}).items():
        for one in topic["partitions"].values():
            offset = one["next_offset"]
            if one["fetch_state"] != "active" or offset < 0 or offset == one["eof_offset"]:
                continue
            host, _, port = nodes.get(one["leader"], "").rpartition(":")
            if host:
                leader = Address(host.strip("[]"), int(port))
                found.setdefault(leader, []).append((name, one["partition"], offset))
    return found


def _words(refused: Position) -> str:
    from confluent_kafka import KafkaError

    topic, index, offset = refused
    return f"topic {topic} partition {index}: offset {offset} cannot be read: " + in_words(
        KafkaError(_STORAGE_ERROR)
    )
