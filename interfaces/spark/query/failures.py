"""Failures of jobs and queries, each in one line."""

from __future__ import annotations

import re


class WrongOption(ValueError):
    """An option or argument is wrong: exit code 2."""


class JobFailed(Exception):
    """The job failed: exit code 1."""


def lost(what: str) -> JobFailed:
    """Records that are missing or cannot be read."""
    return JobFailed(f"{what} (failOnDataLoss=false goes on with what is left)")


#: One of them in the Python traceback of a worker, which Spark passes on as text.
_IN_TRACEBACK = re.compile(r"\.failures\.(WrongOption|JobFailed): (.+)")
#: First lines of Spark's messages that are followed by the reason.
_VAGUE = re.compile(
    r"An error occurred while calling |\[STREAM_FAILED\]|\[PYTHON_|.*Job aborted|"
    r"An exception was thrown from the Python worker|.*terminated with exception"
)
_PYTHON = "Traceback (most recent call last):"
_STACK = re.compile(r"\s+at \S+\(.*\)$|\s+\.\.\. \d+ more$")
_CLASS = re.compile(
    r"(?:: |Caused by: |Exception in thread \S+ )?(?:[a-z_]\w*\.)+([A-Z]\w*)(?:: |$)"
)
_CLIENT_ERROR = re.compile(r'KafkaError\{.*?str="(.*?)"\}')
_SQL_STATE = re.compile(r" SQLSTATE: \w{5}$")


def cause_of(failure: BaseException) -> WrongOption | JobFailed:
    """The root cause in one line: our own failure, or that of Spark's stack trace."""
    if isinstance(failure, (WrongOption, JobFailed)):
        return failure
    text = _text_of(failure)
    ours = _IN_TRACEBACK.findall(text)
    if ours:
        kind, message = ours[-1]
        return WrongOption(message) if kind == "WrongOption" else JobFailed(message)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return JobFailed(type(failure).__name__)
    return JobFailed((_VAGUE.match(lines[0]) and root_of(text)) or _plain(lines[0]))


def root_of(text: str) -> str:
    """The last cause of a Java stack trace, or the last line of a Python traceback in it."""
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
    if found := _CLIENT_ERROR.search(line):
        return found[1]
    line = _SQL_STATE.sub("", line)
    if found := _CLASS.match(line):
        return line[found.end() :] or found[1]
    return line


def _text_of(failure: BaseException) -> str:
    """Spark's exceptions have their stack trace in an attribute."""
    try:
        text = str(failure)
    except Exception:  # the message is fetched from the JVM
        return "Spark's JVM ended during the run"
    trace = getattr(failure, "_stackTrace", None)
    return f"{text}\n{trace}" if isinstance(trace, str) else text
