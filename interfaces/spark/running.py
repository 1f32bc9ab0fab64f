"""Runs a job by the name that its parser gives it, and reports a failure in one line."""

from __future__ import annotations

import argparse
import os
import sys

from interfaces.spark.interruptible import Interruptible, Terminated
from interfaces.spark.query.failures import WrongOption, cause_of
from interfaces.spark.session import is_running, opened, require_spark
from interfaces.terminal.endings import (
    FAILED,
    INTERRUPTED,
    TERMINATED,
    USAGE,
    after_broken_pipe,
    command_of,
    complain,
)

_SPELLED = {
    "option kafka.bootstrap.servers": "--bootstrap-server",
    "option kafka.": "-X ",
    "option subscribePattern": "--pattern",
}


def run(parsed: argparse.Namespace) -> int:
    try:
        require_spark()
        return _run(parsed)
    except KeyboardInterrupt as interrupted:
        return _interrupted(interrupted)
    except BrokenPipeError:
        return after_broken_pipe()
    except Exception as failure:
        if "OTTLA_TRACEBACK" in os.environ:
            raise
        cause = cause_of(failure)
        complain(_on_command_line(str(cause)))
        return USAGE if isinstance(cause, WrongOption) else FAILED


def _on_command_line(message: str) -> str:
    """Options of the data source, spelled as the command's own."""
    for option, spelled in _SPELLED.items():
        message = message.replace(option, spelled)
    return message


def _run(parsed: argparse.Namespace) -> int:
    def whole() -> int:
        code = command_of(parsed.runs, __package__)(parsed)
        sys.stdout.flush()
        return code

    if is_running():  # this process runs a session of its own
        return whole()
    job = Interruptible(whole, opened)
    code = job.run()
    # A job with --every has no other end.
    goes_on = getattr(parsed, "every", None) is not None
    if job.interrupted is None or goes_on:
        return code
    return _interrupted(job.interrupted)


def _interrupted(by: KeyboardInterrupt) -> int:
    code = TERMINATED if isinstance(by, Terminated) else INTERRUPTED
    complain("ended by SIGTERM" if code == TERMINATED else "interrupted")
    return code
