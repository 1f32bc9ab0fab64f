"""A round as a list of events, drawn from its seed alone: so that parts of it can be left out."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from tests.fuzz.corpus import Honest, corpus, large
from tests.fuzz.mutations import framed, mutated

CONNECTIONS = 4
#: Of frames: pipelined with others in one go.
MOST_AT_ONCE = 6
HONEST = 0.3
#: What comes byte by byte is not the longest.
MOST_CHUNKS = 300


class Event(NamedTuple):
    """What happens at one connection. `chunk`: so many bytes are read at once at the most."""

    connection: int
    what: str  # bytes, deaf, hears, gone
    data: bytes = b""
    chunk: int = 0
    #: Whether all of `data` is frames that any broker answers.
    sensible: bool = False


def events_of(seed: int, frames: int) -> list[Event]:
    rng = Random(seed)
    events: list[Event] = []
    sent = 0
    #: Connections that may owe most of a large frame, which swallows what comes after it.
    leaving: list[int] = []
    while sent < frames:
        if leaving and rng.random() < 0.25:
            events.append(Event(leaving.pop(rng.randrange(len(leaving))), "gone"))
        connection = rng.randrange(CONNECTIONS)
        match rng.random():
            case p if p < 0.03:
                events.append(Event(connection, "gone"))
            case p if p < 0.05:
                events.append(Event(connection, "deaf"))
            case p if p < 0.09:
                events.append(Event(connection, "hears"))
            case p if p < 0.096:
                for number in range(rng.choice((1, 1, 3))):  # three do not fit together
                    one = (connection + number) % CONNECTIONS
                    events.append(_large(one, sent, rng))
                    leaving.append(one)
                    sent += 1
            case _:
                count = rng.choice((1, 1, 2, 3, MOST_AT_ONCE))
                events.append(_bytes(connection, count, sent, rng))
                sent += count
    return events


def _bytes(connection: int, count: int, numbered_from: int, rng: Random) -> Event:
    pieces: list[bytes] = []
    sensible = True
    for number in range(numbered_from, numbered_from + count):
        chosen = rng.choice(corpus())
        if rng.random() < HONEST:
            sensible &= chosen.sensible
            pieces.append(framed(chosen.numbered(number)))
        else:
            sensible = False
            pieces.append(_with_number(mutated(chosen, rng), chosen, number))
    data = b"".join(pieces)
    if rng.random() < 0.03:
        data, sensible = data[: rng.randrange(1, len(data) + 1)], False
    chunk = rng.choice((len(data), len(data), rng.randint(1, len(data)), rng.randint(1, 40)))
    return Event(connection, "bytes", data, max(chunk, len(data) // MOST_CHUNKS), sensible)


def _large(connection: int, number: int, rng: Random) -> Event:
    """A frame that has to ask for its memory, and often is not sent to its end."""
    chosen = rng.choice(large())
    data = framed(chosen.numbered(number)) if rng.random() < 0.7 else mutated(chosen, rng)
    if rng.random() < 0.4:
        return Event(connection, "bytes", data[: rng.randrange(1, len(data))], 40_000)
    return Event(connection, "bytes", data, 100_000)


def _with_number(data: bytes, chosen: Honest, number: int) -> bytes:
    """Numbered as well, where the header is still where it was."""
    if data[4:8] == chosen.data[:4] and len(data) >= 12:
        return data[:8] + number.to_bytes(4, "big") + data[12:]
    return data


def frames_in(events: list[Event]) -> int:
    return sum(1 for event in events if event.what == "bytes")
