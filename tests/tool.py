"""What the commands in scripts/ share: how they read arguments and how they are stopped."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

#: What a shell expects of a command that was interrupted.
INTERRUPTED = 130


class Arguments(argparse.ArgumentParser):
    """No guessing: an option has its whole name, and what is wrong is said in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def at_least_one(text: str) -> int:
    """Nothing that was run would be nothing that failed."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def stop_as_if_interrupted() -> None:
    """SIGTERM ends a command as Ctrl-C does, also where the shell has it ignore that.

    To be called where KeyboardInterrupt is caught: it may come at once.
    """

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)


def until_interrupted(seeds: Iterable[int]) -> Iterator[int]:
    """Raises KeyboardInterrupt after the seed that is on, or at once when it is asked for again.

    In the middle of one it could come in code of the broker that takes it for a failure of its own.
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
