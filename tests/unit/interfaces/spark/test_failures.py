"""Of what Spark tells about a failure, the line that matters."""

from __future__ import annotations

import pytest

from interfaces.spark.failures import JobFailed, WrongOption, cause_of

FROM_A_WORKER = """[PYTHON_DATA_SOURCE_ERROR] Failed to read: Traceback (most recent call last):
  File "somewhere.py", line 13, in reader
    raise {kind}("subscribe and assign exclude each other")
interfaces.spark.failures.{kind}: subscribe and assign exclude each other
 SQLSTATE: 38000"""


@pytest.mark.parametrize("kind", [WrongOption, JobFailed])
def test_our_own_reason_is_found_in_what_a_worker_tells(kind: type[Exception]) -> None:
    cause = cause_of(RuntimeError(FROM_A_WORKER.format(kind=kind.__name__)))
    assert type(cause) is kind
    assert str(cause) == "subscribe and assign exclude each other"


def test_of_anything_else_the_first_line() -> None:
    cause = cause_of(RuntimeError("\n[PATH_NOT_FOUND] Path does not exist\nmore\n"))
    assert isinstance(cause, JobFailed)
    assert str(cause) == "[PATH_NOT_FOUND] Path does not exist"
    assert str(cause_of(KeyError())) == "KeyError"
