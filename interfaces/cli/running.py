"""Runs the function of a command, and turns a failure into an exit code and one line."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.endings import (
    FAILED,
    INTERRUPTED,
    USAGE,
    after_broken_pipe,
    command_of,
    complain,
)


def run(parsed: argparse.Namespace) -> int:
    stop = _Stop()
    # In `command &` the shell ignores SIGINT.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)
    try:
        code = command_of(parsed.runs, __package__)(parsed)
        sys.stdout.flush()
        return code
    except UsageError as refusal:
        return _end(str(refusal), USAGE)
    except CommandFailed as failure:
        return _end(str(failure), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemError:
        # confluent-kafka raises this for a KeyboardInterrupt within `poll`.
        if stop.was_signalled:
            return INTERRUPTED
        raise
    except BrokenPipeError:
        return after_broken_pipe()
    except Exception as failure:
        # A client raises a fatal error in whichever call polls, not to its error_cb.
        kafka = sys.modules.get("confluent_kafka")
        if kafka is None or not isinstance(failure, kafka.KafkaException):
            raise
        from interfaces.cli.client import text_of

        return _end(text_of(failure), FAILED)


def _end(line: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    complain(line)
    return code


class _Stop:
    """SIGTERM unwinds as Ctrl-C does: a consumer leaves its group, partial files are removed."""

    def __init__(self) -> None:
        self.was_signalled = False

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.was_signalled = True
        raise KeyboardInterrupt
