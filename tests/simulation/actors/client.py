"""A client: one connection, requests in a pipeline, answers in order, and patience that ends."""

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

#: So long a request may take on a connection that works.
PATIENCE_MS = 5000

_LENGTH = Struct(">i")
_HEADER = Struct(">hhihi")
_ANSWERS: dict[tuple[type[Request], int], Any] = {}

Answered = Callable[["Asked", Any], object]


class Asked:
    """A request on its way."""

    __slots__ = (
        "answered", "asked", "correlation_id", "line", "message", "sent_ms", "timer", "told",
        "version",
    )  # fmt: skip

    def __init__(
        self, message: Any, version: int, correlation_id: int, line: Line, commits: int,
        answered: Answered,
    ) -> None:  # fmt: skip
        self.message = message
        self.version = version
        self.correlation_id = correlation_id
        self.line = line
        self.answered = answered
        #: How many commits there were when it was sent, and when its answer was written.
        self.asked = commits
        self.told = commits
        self.timer: Event | None = None
        self.sent_ms = 0


class Client:
    #: Whether the world waits for it.
    has_to_finish = True
    #: Whether there may be topics yet as long as it is not finished.
    makes_topics = False

    @classmethod
    def arrive(cls, world: World) -> list[Client]:
        """Those that a world has of this kind."""
        raise NotImplementedError

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.random = Random(world.random.random())
        self.line: Line | None = None
        self.finished = False
        self._asked: deque[Asked] = deque()
        self._next_correlation_id = 0
        self._received = bytearray()
        self._dialling = False
        #: Now and then it gives a request up early; the seed says how often.
        self.impatience = self.random.choice((0.0, 0.0, 0.1, 0.3))

    # ---- what an actor adds

    def go_on(self) -> None:
        """There is a connection; called when it comes to be, and whenever the actor asks for it."""
        raise NotImplementedError

    def lost(self, asked: list[Asked]) -> None:
        """The connection is gone, and these requests have no answer."""

    def is_content(self) -> bool:
        """Whether, at the end, it has all that it came for."""
        return self.finished or not self.has_to_finish

    def has_load_on(self, topic: str) -> bool:
        """Whether something for this topic is on its way."""
        return False

    # ---- connection

    def start(self) -> None:
        self.later(self.random.randrange(20))

    def say(self, words: str) -> None:
        self.world.say(self.name, words)

    def later(self, delay_ms: int) -> None:
        self.world.timeline.after(delay_ms, self.wake)

    def wake(self) -> None:
        if self.finished:
            return
        if self.line is not None:
            self.go_on()
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
        self.go_on()

    def closed(self) -> None:
        self.line = None
        asked = list(self._asked)
        self._asked.clear()
        for one in asked:
            if one.timer is not None:
                one.timer.cancel()
        if asked:
            self.say(f"lost its connection with {len(asked)} requests")
        self.lost(asked)
        if not self.finished:
            self.later(self.random.choice((1, 5, 20)))

    def hang_up(self) -> None:
        if self.line is not None:
            self.line.hang_up()
            self.closed()

    def finish(self) -> None:
        self.finished = True
        self.hang_up()

    # ---- requests

    @property
    def in_flight(self) -> int:
        return len(self._asked)

    @property
    def oldest(self) -> Asked | None:
        return self._asked[0] if self._asked else None

    def ask(
        self, message: Request, version: int, answered: Answered,
        arriving: Callable[[], None] | None = None,
    ) -> Asked:  # fmt: skip
        line = self.line
        assert line is not None
        self._next_correlation_id += 1
        asked = Asked(
            message, version, self._next_correlation_id, line, self.world.disk.commits, answered
        )
        asked.sent_ms = self.world.timeline.now
        self._asked.append(asked)
        asked.timer = self.world.timeline.after(PATIENCE_MS, lambda: self._too_late(asked))
        if self.random.random() < self.impatience and self.world.turmoil:
            early_ms = self.random.choice((10, 40, 150))
            self.world.timeline.after(early_ms, lambda: self._impatient(asked))
        line.send(self._frame(message, version, asked.correlation_id), arriving)
        return asked

    def tell(self, message: Request, version: int) -> None:
        """A request that is not answered."""
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

    def is_open(self, asked: Asked) -> bool:
        return asked in self._asked

    def _impatient(self, asked: Asked) -> None:
        if self.is_open(asked):
            self.say(f"gives {type(asked.message).__name__} up")
            self.hang_up()

    def _too_late(self, asked: Asked) -> None:
        if not self.is_open(asked):
            return
        if asked.line.healthy:
            if self.may_wait(asked):
                asked.timer = self.world.timeline.after(PATIENCE_MS, lambda: self._too_late(asked))
                return
            raise Violation(
                f"{self.name}: {type(asked.message).__name__} was not answered in {PATIENCE_MS} ms"
            )
        self.hang_up()

    def could_not_be_read(self, topic: str | bytes, index: int, asked: Asked) -> None:
        """It was told so; a commit that fails is no reason for that."""
        ids = self.world.model._candidates(topic, index)
        if not self.world.mishaps.failed_to_read(ids, asked.sent_ms):
            raise Violation(f"{self.name}: {topic!r}-{index} is said to be unreadable, and is not")

    def may_wait(self, asked: Asked) -> bool:
        """Whether the broker is right not to have answered yet."""
        return False

    # ---- answers

    def received(self, data: bytes, commits: int) -> None:
        received = self._received
        received += data
        while len(received) >= 4:
            (size,) = _LENGTH.unpack_from(received)
            if len(received) < 4 + size:
                return
            frame = bytes(received[4 : 4 + size])
            del received[: 4 + size]
            self._answer(frame, commits)
            if self.line is None:
                return

    def _answer(self, frame: bytes, commits: int) -> None:
        (correlation_id,) = _LENGTH.unpack_from(frame)
        if not self._asked or self._asked[0].correlation_id != correlation_id:
            expected = self._asked[0].correlation_id if self._asked else None
            raise Violation(f"{self.name}: answer {correlation_id} came instead of {expected}")
        asked = self._asked.popleft()
        if asked.timer is not None:
            asked.timer.cancel()
        asked.told = commits
        cls = type(asked.message)
        decode = _ANSWERS.get((cls, asked.version))
        if decode is None:
            messages = import_module(cls.__module__)
            answer = getattr(messages, cls.__name__.replace("Request", "Response"))
            decode = _ANSWERS[cls, asked.version] = decoder(answer, asked.version)
        message, end = decode(frame, 5 if cls.is_flexible(asked.version) else 4)
        if end != len(frame):
            raise Violation(f"{self.name}: bytes after {type(message).__name__}")
        asked.answered(asked, message)
