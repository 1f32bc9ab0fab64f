"""A round as a list of events, drawn from its seed only, so that events can be omitted."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from tests.fuzz.corpus import Valid, corpus, large
from tests.fuzz.mutations import framed, mutated

CONNECTIONS = 4
#: Frames in one write.
MOST_AT_ONCE = 6
HONEST = 0.3
#: Limit of what is read byte by byte.
MOST_CHUNKS = 300


class Event(NamedTuple):
    """An event of one connection; `chunk`: the most bytes of a read."""

    connection: int
    what: str  # bytes, deaf, reads, gone
    data: bytes = b""
    chunk: int = 0
    #: True if all of `data` is valid frames.
    sensible: bool = False


def events_of(seed: int, frames: int) -> list[Event]:
    rng = Random(seed)
    events: list[Event] = []
    sent = 0
    #: Connections that may have a partial large frame, which swallows later bytes.
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
                events.append(Event(connection, "reads"))
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
    """A frame that needs the byte budget, often not sent to its end."""
    chosen = rng.choice(large())
    data = framed(chosen.numbered(number)) if rng.random() < 0.7 else mutated(chosen, rng)
    if rng.random() < 0.4:
        return Event(connection, "bytes", data[: rng.randrange(1, len(data))], 40_000)
    return Event(connection, "bytes", data, 100_000)


def _with_number(data: bytes, chosen: Valid, number: int) -> bytes:
    """Sets the correlation id, if the header is intact."""
    if data[4:8] == chosen.data[:4] and len(data) >= 12:
        return data[:8] + number.to_bytes(4, "big") + data[12:]
    return data


def frames_in(events: list[Event]) -> int:
    return sum(1 for event in events if event.what == "bytes")
