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
    # Python leaves an interrupt alone where the shell has it ignored, as for `command &`.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)
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


def _end(number: int, _frame: FrameType | None) -> None:
    """SIGTERM unwinds as Ctrl-C does: a consumer leaves its group, a file that was begun goes."""
    raise KeyboardInterrupt
