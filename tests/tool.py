"""Shared by the commands in scripts/: arguments and interruption."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

#: The exit code of an interrupted command in a shell.
INTERRUPTED = 130


class Arguments(argparse.ArgumentParser):
    """Takes no abbreviated options, and reports errors in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def at_least_one(text: str) -> int:
    """Zero runs would pass without a test."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def stop_as_if_interrupted() -> None:
    """Makes SIGTERM end a command as Ctrl-C does, even if the shell ignores SIGINT.

    Call it where KeyboardInterrupt is caught: it may come at once.
    """

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)


def until_interrupted(seeds: Iterable[int]) -> Iterator[int]:
    """Raises KeyboardInterrupt after the current seed, or at once on the second signal.

    Inside a seed the broker's code might treat it as a failure of its own.
    """
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    signal.signal(signal.SIGINT, ask)
    signal.signal(signal.SIGTERM, ask)
    for seed in seeds:
        yield seed
        if asked:
            raise KeyboardInterrupt
