"""A connection by lists of bytes: no socket, no loop, no broker."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from interfaces.connections.framing import ReadBuffer
from interfaces.kafka.connections.connection import Connection
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.structs import Pieces
from tests.fakes.client import raw_frame

PRODUCE, METADATA = 0, 3


def request(key: int, number: int) -> bytes:
    return raw_frame(key, 0, b"", correlation_id=number)


@dataclass
class Reply:
    """A response in its order."""

    number: int
    pieces: Pieces | None = None


def take(replies: deque[Reply]) -> tuple[int, Pieces]:
    out: Pieces = []
    while replies and (pieces := replies[0].pieces) is not None:
        out += pieces
        replies.popleft()
    return sum(map(len, out)), out


class Driver:
    """Runs the requests that may run, and responds when the test does."""

    def __init__(self) -> None:
        self.shared = ReadBuffer()
        self.connection = Connection(self.shared, 1 << 20, take)  # type: ignore[arg-type]
        self.running: list[int] = []

    def receive(self, *requests: bytes) -> list[int]:
        data = b"".join(requests)
        self.connection.get_buffer()[: len(data)] = data
        for frame in self.connection.received(len(data)):
            if self.connection.may_run(frame):
                self._run(frame)
        self.shared.memory[:] = bytes(len(self.shared.memory))  # another connection reads
        return self.running

    def respond(self, number: int) -> bytes:
        replies: deque[Call] = self.connection.replies
        [reply] = [one for one in replies if one.number == number]  # type: ignore[attr-defined]
        reply.pieces = [b"%d;" % number]
        self.running.remove(number)
        self.connection.running -= 1
        while (frame := self.connection.next_parked()) is not None:
            self._run(frame)
        return b"".join(self.connection.to_send()[1])

    def _run(self, frame: memoryview) -> None:
        number = int.from_bytes(frame[4:8], "big")
        self.running.append(number)
        self.connection.replies.append(Reply(number))  # type: ignore[arg-type]


def test_requests_run_one_at_a_time_and_parked_ones_are_copied() -> None:
    driver = Driver()
    assert driver.receive(request(METADATA, 1), request(METADATA, 2), request(PRODUCE, 3)) == [1]
    assert driver.respond(1) == b"1;"
    assert driver.running == [2]
    assert driver.respond(2) == b"2;"
    assert driver.running == [3]
    assert driver.connection.parked_bytes == 0


def test_consecutive_produce_requests_run_together_and_their_responses_stay_in_order() -> None:
    driver = Driver()
    requests = [request(PRODUCE, 1), request(PRODUCE, 2), request(METADATA, 3)]
    assert driver.receive(*requests, request(PRODUCE, 4)) == [1, 2]
    assert driver.respond(2) == b""
    assert driver.respond(1) == b"1;2;"
    assert driver.running == [3]
    assert driver.respond(3) == b"3;"
    assert driver.running == [4]


def test_a_muted_or_draining_connection_starts_no_request() -> None:
    driver = Driver()
    driver.connection.muted = 1
    assert driver.receive(request(METADATA, 1)) == []
    assert driver.connection.next_parked() is None
    driver.connection.muted = 0
    driver.connection.draining = True
    assert driver.connection.next_parked() is None
    assert driver.connection.in_flight == 1
