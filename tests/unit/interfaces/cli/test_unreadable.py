"""Which offsets a consumer waits for, by librdkafka's statistics."""

from __future__ import annotations

from interfaces.cli.unreadable import waiting
from interfaces.terminal.addresses import Address


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


def test_partitions_that_are_not_at_their_end_by_leader() -> None:
    partitions = [
        partition(0, 1, 7),
        partition(1, 2, 9, eof_offset=9),
        partition(2, 2, 9, eof_offset=4),
        partition(3, 1, -1001, state="offset-query"),
        partition(4, -1, 5),
        partition(-1, -1, -1001, state="none"),
    ]
    statistics = {
        "brokers": {
            "bootstrap": {"nodeid": -1, "nodename": ""},
            "a": {"nodeid": 1, "nodename": "one:9092"},
            "b": {"nodeid": 2, "nodename": "[::1]:9192"},
        },
        "topics": {"orders": {"partitions": {str(one["partition"]): one for one in partitions}}},
    }
    assert waiting(statistics) == {
        Address("one", 9092): [("orders", 0, 7)],
        Address("::1", 9192): [("orders", 2, 9)],
    }


def test_nothing_is_known_before_the_first_statistics() -> None:
    assert waiting({}) == {}
