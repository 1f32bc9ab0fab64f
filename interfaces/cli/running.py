"""Runs a command by the name that its parser gives it, and turns what fails into one line."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.terminal.endings import (
    FAILED,
    INTERRUPTED,
    USAGE,
    command_of,
    complain,
    nobody_reads_on,
)


def run(parsed: argparse.Namespace) -> int:
    stop = _Stop()
    # Python leaves an interrupt alone where the shell has it ignored, as for `command &`.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)
    try:
        code = command_of(parsed.runs, __package__)(parsed)
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
        return nobody_reads_on()


def _say(line: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    complain(line)
    return code


class _Stop:
    """SIGTERM unwinds as Ctrl-C does: a consumer leaves its group, a file that was begun goes."""

    def __init__(self) -> None:
        self.is_asked = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.is_asked = True
        raise KeyboardInterrupt
