"""Which offsets a consumer waits for, by librdkafka's statistics, and which of them are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.unreadable import Responses, Unreadable, Waiting, fetched, waiting
from interfaces.kafka.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from interfaces.terminal.addresses import Address

LEADER = Address("one", 9092)


def partition(
    index: int, leader: int, next_offset: int, eof_offset: int = -1001, state: str = "active"
) -> dict[str, object]:
    return {
        "partition": index,
        "leader": leader,
        "fetch_state": state,
        "next_offset": next_offset,
        "eof_offset": eof_offset,
    }


def statistics(*partitions: dict[str, object]) -> dict[str, Any]:
    return {
        "brokers": {
            "bootstrap": {"nodeid": -1, "nodename": ""},
            "a": {"nodeid": 1, "nodename": "one:9092"},
            "b": {"nodeid": 2, "nodename": "[::1]:9192"},
        },
        "topics": {"orders": {"partitions": {str(one["partition"]): one for one in partitions}}},
    }


def test_partitions_that_are_not_at_their_end_with_their_leader() -> None:
    partitions = [
        partition(0, 1, 7),
        partition(1, 2, 9, eof_offset=9),
        partition(2, 2, 9, eof_offset=4),
        partition(3, 1, -1001, state="offset-query"),
        partition(4, -1, 5),
        partition(-1, -1, -1001, state="none"),
    ]
    assert waiting(statistics(*partitions)) == {
        ("orders", 0, 7): LEADER,
        ("orders", 2, 9): Address("::1", 9192),
        ("orders", 4, 5): None,
    }


def test_nothing_is_known_before_the_first_statistics() -> None:
    assert waiting({}) == {}


class Story:
    """A consumer of partitions 0 and 1: 1 delivers records."""

    def __init__(self) -> None:
        self.statistics = "{}"
        self.timeout_s = 10.0
        self.notes: list[str] = []
        self.note = self.notes.append
        self.now_s = 0.0
        self.fetches = 0
        self.read = 0
        #: Of partition 0; None: its broker does not respond.
        self.is_refused: bool | None = True
        self.unreadable = Unreadable(self, self.fetch, lambda: self.now_s)  # type: ignore[arg-type]

    def fetch(self, _: object, positions: Waiting) -> Responses:
        assert [one[:2] for one in positions] == [("orders", 0)]
        self.fetches += 1
        return {} if self.is_refused is None else dict.fromkeys(positions, self.is_refused)

    def look(self, times: int, *, offset: int = 7, leader: int = 1) -> None:
        """One each second."""
        for _ in range(times):
            self.now_s += 1
            self.read += 100
            now = statistics(partition(0, leader, offset), partition(1, 1, self.read))
            self.statistics = json.dumps(now)
            self.unreadable.look()
            if self.unreadable.fetching.is_alive():
                self.unreadable.fetching.join()
            self.unreadable.look()  # without new statistics


@pytest.fixture
def story() -> Story:
    return Story()


LINE = (
    "topic orders partition 0: offset {} cannot be read: Disk error when trying to access log file "
    "on disk (KAFKA_STORAGE_ERROR)"
)
NOTE = f"{LINE} (still waiting)"


def test_what_is_refused_while_others_deliver_is_named_once(story: Story) -> None:
    story.look(2)
    assert (story.notes, story.fetches) == ([], 1)
    story.look(8)
    assert story.notes == [NOTE.format(7)]


def test_it_ends_after_the_timeout(story: Story) -> None:
    story.look(3 + 10)
    with pytest.raises(CommandFailed) as ended:
        story.look(1)
    assert str(ended.value) == LINE.format(7)


@pytest.mark.parametrize("leader", [1, -1])
def test_a_broker_that_does_not_respond_changes_nothing(story: Story, leader: int) -> None:
    story.look(5)
    story.is_refused = None
    story.look(5, leader=leader)
    story.is_refused = True
    story.look(3)
    assert story.notes == [NOTE.format(7)]
    with pytest.raises(CommandFailed):
        story.look(1)


def test_what_can_be_read_again_begins_anew(story: Story) -> None:
    story.look(8)
    story.is_refused = False
    story.look(2)
    story.is_refused = True
    story.look(8)
    assert story.notes == [NOTE.format(7)] * 2


def test_records_that_arrive_clear_what_was_refused(story: Story) -> None:
    story.look(2)
    story.look(1, offset=8)
    assert story.notes == []
    story.look(2, offset=8)
    assert story.notes == [NOTE.format(8)]


def test_the_check_needs_one_statistics(story: Story) -> None:
    story.unreadable = Unreadable(story, lambda _, all_: dict.fromkeys(all_, True))  # type: ignore[arg-type]
    story.unreadable.check()
    story.look(1)
    with pytest.raises(CommandFailed):
        story.unreadable.check()


class Broker:
    """Partition 1 is not refused, others are; a response has records of one partition."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def send(self, request: FetchRequest, *_: object) -> FetchResponse:
        asked = [one.partition for topic in request.topics for one in topic.partitions]
        self.asked.append(asked)
        found = [
            PartitionData(partition_index=index, error_code=0, high_watermark=9, records=b"")
            for index in asked
        ]
        for one in found:
            if one.partition_index == 1:
                one.records = b"records"
                break
            one.error_code = 56
        return FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=found)])


class Connections:
    def __init__(self, failure: Exception | None = None) -> None:
        self.broker = Broker()
        self._failure = failure

    @contextmanager
    def wire(self, _: str, address: Address) -> Iterator[Broker]:
        if address != LEADER and self._failure:
            raise self._failure
        yield self.broker


def test_records_of_one_partition_hide_no_refusal() -> None:
    connections = Connections()
    positions = {("orders", index, 7): LEADER for index in (0, 1, 2, 3)}
    assert fetched(connections, positions) == {  # type: ignore[arg-type]
        ("orders", 0, 7): True,
        ("orders", 1, 7): False,
        ("orders", 2, 7): True,
        ("orders", 3, 7): True,
    }
    assert connections.broker.asked == [[0, 1, 2, 3], [2, 3]]


@pytest.mark.parametrize("failure", [CommandFailed("away"), UsageError("-X")])
def test_a_leader_that_cannot_be_asked_has_no_response(failure: Exception) -> None:
    positions = {
        ("orders", 0, 7): LEADER,
        ("orders", 1, 7): Address("two", 9092),
        ("orders", 2, 7): None,
    }
    assert fetched(Connections(failure), positions) == {("orders", 0, 7): True}  # type: ignore[arg-type]
