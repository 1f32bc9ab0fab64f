"""A client: one connection, pipelined requests, responses in order, and timeouts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from importlib import import_module
from random import Random
from struct import Struct
from typing import TYPE_CHECKING, Any

from interfaces.kafka.wire.schema import Request, decoder, encoder
from tests.simulation.model import Violation
from tests.simulation.network import Line
from tests.simulation.timeline import Event

if TYPE_CHECKING:
    from tests.simulation.world import World

#: Timeout of a request on a working connection.
PATIENCE_MS = 5000

_LENGTH = Struct(">i")
_HEADER = Struct(">hhihi")
_RESPONSES: dict[tuple[type[Request], int], Any] = {}

OnResponse = Callable[["Call", Any], object]


class Call:
    """A request in flight."""

    __slots__ = (
        "correlation_id", "line", "message", "on_response", "requested", "responded", "sent_ms",
        "timer", "version",
    )  # fmt: skip

    def __init__(
        self, message: Any, version: int, correlation_id: int, line: Line, commits: int,
        on_response: OnResponse,
    ) -> None:  # fmt: skip
        self.message = message
        self.version = version
        self.correlation_id = correlation_id
        self.line = line
        self.on_response = on_response
        #: The number of commits when it was sent, and when its response was written.
        self.requested = commits
        self.responded = commits
        self.timer: Event | None = None
        self.sent_ms = 0

    @property
    def commits(self) -> tuple[int, int]:
        return self.requested, self.responded


class Client:
    #: True if the world waits for its end.
    has_to_finish = True
    #: True if it may create topics until it is finished.
    creates_topics = False

    @classmethod
    def create_all(cls, world: World) -> list[Client]:
        """Creates the clients of this kind for a world."""
        raise NotImplementedError

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.random = Random(world.random.random())
        self.line: Line | None = None
        self.finished = False
        self._calls: deque[Call] = deque()
        self._next_correlation_id = 0
        self._received = bytearray()
        self._dialling = False
        #: Probability of abandoning a request early.
        self.impatience = self.random.choice((0.0, 0.0, 0.1, 0.3))

    # ---- to implement

    def send_next(self) -> None:
        """Sends requests; called when a connection is open, and after `later`."""
        raise NotImplementedError

    def lost(self, calls: list[Call]) -> None:
        """The connection is lost, and these requests have no response."""

    def is_done(self) -> bool:
        """Returns True if the world may end."""
        return self.finished or not self.has_to_finish

    def has_load_on(self, topic: str) -> bool:
        """Returns True if a batch for this topic is in flight."""
        return False

    # ---- connection

    def start(self) -> None:
        self.later(self.random.randrange(20))

    def log(self, text: str) -> None:
        self.world.log(self.name, text)

    def later(self, delay_ms: int) -> None:
        self.world.timeline.after(delay_ms, self.wake)

    def wake(self) -> None:
        if self.finished:
            return
        if self.line is not None:
            self.send_next()
        elif not self._dialling:
            self._dialling = True
            self.world.timeline.after(self.random.choice((0, 1, 2)), self._dial)

    def _dial(self) -> None:
        self._dialling = False
        if self.finished or self.line is not None:
            return
        self.line = self.world.connect(self)
        if self.line is None:
            self.later(20)
            return
        self._received.clear()
        self.send_next()

    def closed(self) -> None:
        self.line = None
        calls = list(self._calls)
        self._calls.clear()
        for one in calls:
            if one.timer is not None:
                one.timer.cancel()
        if calls:
            self.log(f"lost its connection with {len(calls)} requests")
        self.lost(calls)
        if not self.finished:
            self.later(self.random.choice((1, 5, 20)))

    def disconnect(self) -> None:
        if self.line is not None:
            self.line.disconnect()
            self.closed()

    def finish(self) -> None:
        self.finished = True
        self.disconnect()

    # ---- requests

    @property
    def in_flight(self) -> int:
        return len(self._calls)

    @property
    def oldest(self) -> Call | None:
        return self._calls[0] if self._calls else None

    def send(
        self, message: Request, version: int, on_response: OnResponse,
        arriving: Callable[[], None] | None = None,
    ) -> Call:  # fmt: skip
        line = self.line
        assert line is not None
        self._next_correlation_id += 1
        call = Call(
            message, version, self._next_correlation_id, line, self.world.disk.commits, on_response
        )
        call.sent_ms = self.world.timeline.now
        self._calls.append(call)
        call.timer = self.world.timeline.after(PATIENCE_MS, lambda: self._too_late(call))
        if self.random.random() < self.impatience and self.world.has_faults:
            early_ms = self.random.choice((10, 40, 150))
            self.world.timeline.after(early_ms, lambda: self._impatient(call))
        line.send(self._frame(message, version, call.correlation_id), arriving)
        return call

    def send_without_response(self, message: Request, version: int) -> None:
        """Sends a request that has no response (acks=0)."""
        assert self.line is not None
        self._next_correlation_id += 1
        self.line.send(self._frame(message, version, self._next_correlation_id))

    def _frame(self, message: Request, version: int, correlation_id: int) -> bytes:
        cls = type(message)
        body = b"".join(encoder(cls, version)(message))
        head = b"\0\0\0\0" + cls.api_key.to_bytes(2, "big") + version.to_bytes(2, "big")
        head += correlation_id.to_bytes(4, "big") + b"\0\x03sim"
        if cls.is_flexible(version):
            head += b"\0"
        return _LENGTH.pack(len(head) + len(body) - 4) + head[4:] + body

    def is_open(self, call: Call) -> bool:
        return call in self._calls

    def _impatient(self, call: Call) -> None:
        if self.is_open(call):
            self.log(f"abandons {type(call.message).__name__}")
            self.disconnect()

    def _too_late(self, call: Call) -> None:
        if not self.is_open(call):
            return
        if call.line.healthy:
            if self.may_wait(call):
                call.timer = self.world.timeline.after(PATIENCE_MS, lambda: self._too_late(call))
                return
            raise Violation(
                f"{self.name}: {type(call.message).__name__} has no response after {PATIENCE_MS} ms"
            )
        self.disconnect()

    def check_unreadable(self, topic: str | bytes, index: int, call: Call) -> None:
        """Checks that a read has failed; a failed commit does not make a partition unreadable."""
        ids = self.world.model._candidates(topic, index)
        if not self.world.mishaps.failed_to_read(ids, call.sent_ms):
            raise Violation(
                f"{self.name}: {topic!r}-{index} is refused as unreadable, and is readable"
            )

    def may_wait(self, call: Call) -> bool:
        """Returns True if the request may still wait."""
        return False

    # ---- responses

    def received(self, data: bytes, commits: int) -> None:
        received = self._received
        received += data
        while len(received) >= 4:
            (size,) = _LENGTH.unpack_from(received)
            if len(received) < 4 + size:
                return
            frame = bytes(received[4 : 4 + size])
            del received[: 4 + size]
            self._receive(frame, commits)
            if self.line is None:
                return

    def _receive(self, frame: bytes, commits: int) -> None:
        (correlation_id,) = _LENGTH.unpack_from(frame)
        if not self._calls or self._calls[0].correlation_id != correlation_id:
            expected = self._calls[0].correlation_id if self._calls else None
            raise Violation(f"{self.name}: got response {correlation_id} instead of {expected}")
        call = self._calls.popleft()
        if call.timer is not None:
            call.timer.cancel()
        call.responded = commits
        cls = type(call.message)
        decode = _RESPONSES.get((cls, call.version))
        if decode is None:
            messages = import_module(cls.__module__)
            response = getattr(messages, cls.__name__.replace("Request", "Response"))
            decode = _RESPONSES[cls, call.version] = decoder(response, call.version)
        message, end = decode(frame, 5 if cls.is_flexible(call.version) else 4)
        if end != len(frame):
            raise Violation(f"{self.name}: bytes after {type(message).__name__}")
        call.on_response(call, message)
