"""Why a job or a query ends: each is one line for the person who reads it."""

from __future__ import annotations

import re


class WrongOption(ValueError):
    """It was said wrongly: exit code 2."""


class JobFailed(Exception):
    """It was understood, and could not be done: exit code 1."""


def lost(what: str) -> JobFailed:
    """Data that a query wants and that is not there, or cannot be read."""
    return JobFailed(f"{what} (failOnDataLoss=false goes on with what is left)")


#: How Python writes one of them in a worker's traceback, which is all that Spark hands on.
_IN_TRACEBACK = re.compile(r"\.failures\.(WrongOption|JobFailed): (.+)")
#: What Spark says first where the reason comes later.
_VAGUE = re.compile(
    r"An error occurred while calling |\[STREAM_FAILED\]|\[PYTHON_|.*Job aborted|"
    r"An exception was thrown from the Python worker|.*terminated with exception"
)
_PYTHON = "Traceback (most recent call last):"
_STACK = re.compile(r"\s+at \S+\(.*\)$|\s+\.\.\. \d+ more$")
_CLASS = re.compile(
    r"(?:: |Caused by: |Exception in thread \S+ )?(?:[a-z_]\w*\.)+([A-Z]\w*)(?:: |$)"
)
_CLIENT_SAYS = re.compile(r'KafkaError\{.*?str="(.*?)"\}')
_SQL_STATE = re.compile(r" SQLSTATE: \w{5}$")


def cause_of(failure: BaseException) -> WrongOption | JobFailed:
    """Of what Spark raises, which is long: our own reason, or the one at the root of it."""
    if isinstance(failure, (WrongOption, JobFailed)):
        return failure
    text = _told_by(failure)
    ours = _IN_TRACEBACK.findall(text)
    if ours:
        kind, message = ours[-1]
        return WrongOption(message) if kind == "WrongOption" else JobFailed(message)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return JobFailed(type(failure).__name__)
    return JobFailed((_VAGUE.match(lines[0]) and root_of(text)) or _plain(lines[0]))


def root_of(text: str) -> str:
    """The reason of a Java stack trace's last cause; of a Python traceback in it the last line."""
    innermost = text[max(0, text.rfind("\nCaused by: ")) :]
    if _PYTHON in innermost:
        after = innermost[innermost.rindex(_PYTHON) + len(_PYTHON) :].lstrip("\n")
        lines = after.splitlines()
        raised = next((line for line in lines if line.strip() and not line[0].isspace()), "")
    else:
        lines = [line for line in innermost.splitlines() if line.strip()]
        reasons = [line for line in lines if not _STACK.match(line)]
        raised = next((line for line in reasons if _is_reason(line)), "")
    return _plain(raised.strip())


def _is_reason(line: str) -> bool:
    return bool(_CLASS.match(line)) or not _VAGUE.match(line.strip())


def _plain(line: str) -> str:
    if found := _CLIENT_SAYS.search(line):
        return found[1]
    line = _SQL_STATE.sub("", line)
    if found := _CLASS.match(line):
        return line[found.end() :] or found[1]
    return line


def _told_by(failure: BaseException) -> str:
    """Spark's own exceptions have the stack trace besides."""
    try:
        text = str(failure)
    except Exception:  # it is asked for in the JVM, which may be gone
        return "Spark's JVM ended in mid-run"
    trace = getattr(failure, "_stackTrace", None)
    return f"{text}\n{trace}" if isinstance(trace, str) else text
