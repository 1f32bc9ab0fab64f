"""Many connections on one thread, until the broker has died and each connection has ended."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tests.crash.broker import POINT_WITHIN_S, Broker, NotInTime
from tests.crash.ledger import Broken
from tests.e2e.raw_client import Reader, frame

_LENGTH = struct.Struct(">i")


class Client:
    """A client with one connection: sends in `send_next`, receives in `on_response` and `lost`."""

    #: The broker may close the connection and continue.
    may_be_cut_off = False
    #: In this run commits fail, and their requests are refused.
    storage_may_fail = False
    #: The broker is one of several: groups have no coordinator until its lease is known.
    may_lack_coordinator = False
    #: In this run a database is away for a moment: reads of what is not in memory fail.
    reads_may_fail = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.out = bytearray()
        self.pending: deque[tuple[int, Any]] = deque()
        self.next_id = 0

    def send_request(
        self, key: int, version: int, body: bytes, context: Any, response: bool = True
    ) -> None:
        self.next_id += 1
        self.out += frame(key, version, self.next_id, body)
        if response:
            self.pending.append((self.next_id, context))

    def receive(self, payload: bytes) -> None:
        response = Reader(payload)
        (correlation_id,) = response.take("i")
        expected, context = self.pending.popleft()
        if correlation_id != expected:
            raise Broken(f"{self.name}: response {correlation_id} instead of {expected}")
        self.on_response(context, response)

    def begin(self) -> None:
        """Connected; open requests of the last connection get no response."""
        self.out.clear()
        self.pending.clear()

    def send_next(self) -> None:
        raise NotImplementedError

    def on_response(self, context: Any, response: Reader) -> None:
        raise NotImplementedError

    def lost(self) -> None:
        pass


class Line:
    """A non-blocking socket, and the received part of the next response."""

    def __init__(self, client: Client, port: int) -> None:
        self.client = client
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received = bytearray()

    def write(self) -> None:
        try:
            while self.client.out:
                sent = self.socket.send(memoryview(self.client.out)[: 1 << 18])
                del self.client.out[:sent]
        except BlockingIOError:
            pass

    def read(self) -> int:
        """Returns the number of responses; raises ConnectionError at the end of the stream."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionResetError
        self.received += data
        responses, start = 0, 0
        while len(self.received) - start >= 4:
            end = start + 4 + _LENGTH.unpack_from(self.received, start)[0]
            if len(self.received) < end:
                break
            self.client.receive(bytes(self.received[start + 4 : end]))
            start, responses = end, responses + 1
        del self.received[:start]
        return responses


class Fleet:
    def __init__(self, broker: Broker, clients: Sequence[Client]) -> None:
        self.broker, self.clients = broker, clients
        self.selector = selectors.DefaultSelector()
        self.responses = 0
        self.lines = 0

    def run(self, death: Callable[[int], float | None]) -> None:
        """`death(responses)` returns the seconds until its next call; None: next response."""
        deadline = time.monotonic() + POINT_WITHIN_S
        with self.selector:
            self.selector.register(self.broker.nursery.events_pipe, selectors.EVENT_READ)
            try:
                for client in self.clients:
                    self._connect(client)
                while self.lines or not self.broker.has_ended():
                    wait_s = death(self.responses)
                    left_s = deadline - time.monotonic()
                    if left_s < 0:
                        raise NotInTime(f"the broker still runs after {self.responses} responses")
                    self._turn(left_s if wait_s is None else min(wait_s, left_s))
            finally:
                for key in list(self.selector.get_map().values()):
                    if key.data is not None:
                        key.data.socket.close()

    def _connect(self, client: Client) -> None:
        client.begin()
        try:
            line = Line(client, self.broker.port)
        except ConnectionError:
            client.lost()
            return
        self.lines += 1
        self.selector.register(line.socket, selectors.EVENT_READ, line)
        self._serve(line)

    def _turn(self, wait_s: float) -> None:
        for key, events in self.selector.select(wait_s):
            line: Line | None = key.data
            if line is None:
                self.broker.nursery.hear()
                continue
            try:
                if events & selectors.EVENT_READ:
                    self.responses += line.read()
            except BlockingIOError:
                pass
            except ConnectionError:
                self._lose(line)
                continue
            self._serve(line)

    def _serve(self, line: Line) -> None:
        line.client.send_next()
        try:
            line.write()
        except ConnectionError:
            line.client.out.clear()  # responses sent before its end are still to be read
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if line.client.out else 0)
        self.selector.modify(line.socket, events, line)

    def _lose(self, line: Line) -> None:
        self.selector.unregister(line.socket)
        line.socket.close()
        self.lines -= 1
        line.client.lost()
        if line.client.may_be_cut_off and not self.broker.has_ended():
            self._connect(line.client)
