"""A round by its seed; when it fails, the few events that are needed for that, in hex."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.cost import Meter
from tests.fuzz.play import Round
from tests.fuzz.story import Event, events_of

FRAMES = 500
#: Of rounds: how many are played on LMDB, and how many are measured.
ON_LMDB = 10
MEASURED = 50

#: Of a failing round; `--seed` has all of it.
SHOWN_EVENTS = 40
SHOWN_HEX = 2000

#: How often a failing round is played again to find what can be left out.
TRIES = 400


class Failed(AssertionError):
    pass


def play(seed: int, folder: Path) -> None:
    """`folder` is for the store, where the seed says that there is one."""
    events = events_of(seed, FRAMES)
    failure = _failure(seed, events, folder)
    if failure is None:
        return
    needed = shrunk(seed, events, folder)
    last = _failure(seed, needed, folder) or failure
    told = "\n".join(map(_told, needed[-SHOWN_EVENTS:]))
    raise Failed(
        f"seed {seed}: {type(last).__name__}: {last}\n"
        f"again: scripts/fuzz --seed {seed}\n"
        f"connection, what, bytes at once, the bytes:\n{told}"
    ) from last


def _told(event: Event) -> str:
    data = event.data.hex()
    shown = data if len(data) <= SHOWN_HEX else f"{data[:SHOWN_HEX]}... ({len(event.data)} bytes)"
    return f"  {event.connection} {event.what} {event.chunk or ''} {shown}"


def _failure(seed: int, events: Sequence[Event], folder: Path) -> BaseException | None:
    try:
        meter = Meter("memory" if seed % 2 else "calls") if seed % MEASURED in (0, 1) else None
        storage = "memory://"
        if seed % ON_LMDB == 5:
            store = folder / f"{seed}-{len(list(folder.iterdir()))}"
            storage = f"lmdb://{store}"
        one = Round(storage, meter)
        try:
            one.play(events)
        finally:
            one.close()
    except Exception as failure:
        return failure
    return None


def shrunk(seed: int, events: list[Event], folder: Path) -> list[Event]:
    """Leaves out halves, quarters, ... as long as it goes on failing."""
    left, size = TRIES, len(events) // 2
    while size and left:
        at = 0
        while at < len(events) and left:
            fewer = events[:at] + events[at + size :]
            left -= 1
            if fewer and _failure(seed, fewer, folder) is not None:
                events = fewer
            else:
                at += size
        size //= 2
    return events
