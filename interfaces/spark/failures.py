"""Why a job or a query ends: each is one line for the person who reads it."""

from __future__ import annotations

import re


class WrongOption(ValueError):
    """It was said wrongly: exit code 2."""


class JobFailed(Exception):
    """It was understood, and could not be done: exit code 1."""


#: How Python writes one of them in a worker's traceback, which is all that Spark hands on.
_IN_TRACEBACK = re.compile(r"\.failures\.(WrongOption|JobFailed): (.+)")


def cause_of(failure: BaseException) -> WrongOption | JobFailed:
    """Of what Spark raises, which is long: our own reason, or the first line of Spark's."""
    if isinstance(failure, (WrongOption, JobFailed)):
        return failure
    text = str(failure)
    ours = _IN_TRACEBACK.findall(text)
    if ours:
        kind, message = ours[-1]
        return WrongOption(message) if kind == "WrongOption" else JobFailed(message)
    lines = [line for line in text.splitlines() if line.strip()]
    return JobFailed(lines[0] if lines else type(failure).__name__)
