"""Runs a round by its seed; a failure is shrunk to few events, in hex."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.cost import Meter
from tests.fuzz.events import Event, events_of
from tests.fuzz.round import Round

FRAMES = 500
#: One of so many rounds runs on LMDB, or is measured.
ON_LMDB = 10
MEASURED = 50

#: Shown events of a failing round; `--seed` shows all.
SHOWN_EVENTS = 40
SHOWN_HEX = 2000

#: Attempts to shrink a failing round.
TRIES = 400


class Failed(AssertionError):
    pass


def run_round(seed: int, folder: Path) -> None:
    """`folder` is for the store of rounds on LMDB."""
    events = events_of(seed, FRAMES)
    failure = _failure(seed, events, folder)
    if failure is None:
        return
    needed = shrunk(seed, events, folder)
    last = _failure(seed, needed, folder) or failure
    shown = "\n".join(map(_shown, needed[-SHOWN_EVENTS:]))
    raise Failed(
        f"seed {seed}: {type(last).__name__}: {last}\n"
        f"again: scripts/fuzz --seed {seed}\n"
        f"connection, what, bytes at once, the bytes:\n{shown}"
    ) from last


def _shown(event: Event) -> str:
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
            one.run(events)
        finally:
            one.close()
    except Exception as failure:
        return failure
    return None


def shrunk(seed: int, events: list[Event], folder: Path) -> list[Event]:
    """Omits halves, quarters, ... as long as the round fails."""
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
