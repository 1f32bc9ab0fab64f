"""Unreadable: the partitions that a consumer waits for because its broker cannot read them.

librdkafka repeats a Fetch with KAFKA_STORAGE_ERROR for ever and does not report it. So offsets that
stay the same in two of librdkafka's statistics are fetched here, too: in a thread, as a broker
responds after seconds if the bucket of its records is away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.addresses import Address
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from interfaces.cli.client import Clients
    from interfaces.cli.probe.wire_client import WireClient

#: Of a consumer that is watched.
OPTIONS = {"statistics_interval_ms": 1000}
_VERSION = 4
_STORAGE_ERROR = 56

#: Topic, partition, offset.
Position = tuple[str, int, int]
#: With the leader, if there is one.
Waiting = Mapping[Position, Address | None]
#: Whether it is refused. Without those whose broker did not respond.
Responses = Mapping[Position, bool]
Fetch = Callable[["Clients", Waiting], Responses]


def fetched(clients: Clients, positions: Waiting) -> Responses:
    found: dict[Position, bool] = {}
    for leader in {one for one in positions.values() if one is not None}:
        # librdkafka reports connections that fail. Some of its options are for it alone.
        with (
            suppress(CommandFailed, UsageError),
            clients.wire("the records", leader) as client,
        ):
            found |= _fetched(client, [one for one in positions if positions[one] == leader])
    return found


def _fetched(client: WireClient, positions: list[Position]) -> Responses:
    from interfaces.kafka.wire.messages.fetch import (
        FetchPartition,
        FetchRequest,
        FetchResponse,
        FetchTopic,
    )

    found = dict.fromkeys(positions, False)
    left = {one[:2]: one for one in positions}
    while left:
        topics = [
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1)
                ],
            )
            for topic, index, offset in left.values()
        ]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1, topics=topics)
        response = client.send(request, _VERSION, FetchResponse)
        ended = {
            (topic.topic, one.partition_index): one.error_code
            for topic in response.responses
            for one in topic.partitions
            if one.error_code or one.records
        }
        if not ended:
            break
        # A response has the records of one partition: others are fetched again.
        for place, code in ended.items():
            found[left.pop(place)] = code == _STORAGE_ERROR
    return found


class Unreadable:
    def __init__(
        self,
        clients: Clients,
        fetch: Fetch = fetched,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clients = clients
        self._fetch = fetch
        self._now_s = now_s
        self._statistics = ""
        self._waiting: Waiting = {}
        self._responses: Responses = {}
        #: With the time at which it was first refused.
        self._refused: dict[Position, float] = {}
        self.fetching = Thread()

    def look(self) -> None:
        """Prints what is refused, once. Raises CommandFailed if it is for --timeout."""
        statistics = self._clients.statistics
        if statistics is self._statistics or self.fetching.is_alive():
            return
        self._statistics = statistics
        before, self._waiting = self._waiting, waiting(json.loads(statistics))
        self._update()
        silent = {one: leader for one, leader in self._waiting.items() if one in before}
        if silent:
            self.fetching = Thread(target=self._ask, args=(silent,), daemon=True)
            self.fetching.start()

    def _ask(self, positions: Waiting) -> None:
        self._responses = self._fetch(self._clients, positions)

    def _update(self) -> None:
        now_s, before, responses = self._now_s(), self._refused, self._responses
        self._responses = {}
        self._refused = {
            one: before.get(one, now_s)
            for one in self._waiting
            if responses.get(one, one in before)
        }
        for one, since_s in self._refused.items():
            if one not in before:
                self._clients.note(f"{_words(one)} (still waiting)")
            if now_s - since_s > self._clients.timeout_s:
                raise CommandFailed(_words(one))

    def check(self) -> None:
        """Fetches at once. Raises CommandFailed if something is refused."""
        positions = waiting(json.loads(self._clients.statistics))
        responses = self._fetch(self._clients, positions)
        for one in positions:
            if responses.get(one, one in self._refused):
                raise CommandFailed(_words(one))


def waiting(statistics: Mapping[str, Any]) -> Waiting:
    """What a consumer fetches and is not at the end of."""
    nodes = {one["nodeid"]: one["nodename"] for one in statistics.get("brokers", {}).values()}
    found: dict[Position, Address | None] = {}
    for name, topic in statistics.get("topics", {}).items():
        for one in topic["partitions"].values():
            offset = one["next_offset"]
            if one["fetch_state"] != "active" or offset < 0 or offset == one["eof_offset"]:
                continue
            host, _, port = nodes.get(one["leader"], "").rpartition(":")
            leader = Address(host.strip("[]"), int(port)) if host else None
            found[name, one["partition"], offset] = leader
    return found


def _words(refused: Position) -> str:
    from confluent_kafka import KafkaError

    topic, index, offset = refused
    return f"topic {topic} partition {index}: offset {offset} cannot be read: " + in_words(
        KafkaError(_STORAGE_ERROR)
    )
