"""Finds the function of a command; exit codes, and the line on stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143

Command = Callable[[argparse.Namespace], int]


def command_of(runs: str, package: str | None) -> Command:
    """`runs` is MODULE:FUNCTION in `package`."""
    module, _, function = runs.partition(":")
    found: Command = getattr(import_module(f".{module}", package), function)
    return found


def complain(line: str) -> None:
    print(f"ottla: {' '.join(line.split())}", file=sys.stderr)


def after_broken_pipe() -> int:
    """Redirects stdout, which Python flushes again at exit. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
