"""Runs a command by the name that its parser gives it, and turns what fails into one line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType

from interfaces.cli.failures import CommandFailed, NotUnderstood

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

Command = Callable[[argparse.Namespace], int]


def run(parsed: argparse.Namespace) -> int:
    stop = _Stop()
    # Python leaves an interrupt alone where the shell has it ignored, as for `command &`.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)
    try:
        code = _command(parsed.runs)(parsed)
        sys.stdout.flush()
        return code
    except NotUnderstood as refusal:
        return _say(str(refusal), USAGE)
    except CommandFailed as failure:
        return _say(str(failure), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemError:
        # A client that a signal finds within `poll` loses the KeyboardInterrupt and raises this.
        if stop.is_asked:
            return INTERRUPTED
        raise
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _command(runs: str) -> Command:
    module, _, function = runs.partition(":")
    found: Command = getattr(import_module(f".{module}", __package__), function)
    return found


def _say(line: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    print(f"ottla: {' '.join(line.split())}", file=sys.stderr)
    return code


class _Stop:
    """SIGTERM unwinds as Ctrl-C does: a consumer leaves its group, a file that was begun goes."""

    def __init__(self) -> None:
        self.is_asked = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.is_asked = True
        raise KeyboardInterrupt
