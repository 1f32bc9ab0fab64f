"""Runs a job by the name that its parser gives it, and turns what fails into one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module

from interfaces.spark.failures import WrongOption, cause_of
from interfaces.spark.interruptible import Interruptible, Terminated
from interfaces.spark.session import is_running, opened, require_spark

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143

Job = Callable[[argparse.Namespace], int]


def run(parsed: argparse.Namespace) -> int:
    try:
        require_spark()
        return _run(parsed)
    except KeyboardInterrupt as interrupted:
        return _interrupted(interrupted)
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as failure:
        if "OTTLA_TRACEBACK" in os.environ:
            raise
        cause = cause_of(failure)
        print(f"ottla: {' '.join(str(cause).split())}", file=sys.stderr)
        return USAGE if isinstance(cause, WrongOption) else FAILED


def _run(parsed: argparse.Namespace) -> int:
    def whole() -> int:
        code = _job(parsed.runs)(parsed)
        sys.stdout.flush()
        return code

    if is_running():  # not ours to end
        return whole()
    job = Interruptible(whole, opened)
    code = job.run()
    # One that goes on until then has done what it was asked for.
    goes_on = getattr(parsed, "every", None) is not None
    if job.interrupted is None or goes_on:
        return code
    return _interrupted(job.interrupted)


def _interrupted(by: KeyboardInterrupt) -> int:
    code = TERMINATED if isinstance(by, Terminated) else INTERRUPTED
    print(f"ottla: {'ended by SIGTERM' if code == TERMINATED else 'interrupted'}", file=sys.stderr)
    return code


def _job(runs: str) -> Job:
    module, _, function = runs.partition(":")
    found: Job = getattr(import_module(f".{module}", __package__), function)
    return found
