"""The reason of an exception of Spark in one line."""

from __future__ import annotations

import pytest

from interfaces.spark.query.failures import JobFailed, WrongOption, cause_of

FROM_A_WORKER = """[PYTHON_DATA_SOURCE_ERROR] Failed to read: Traceback (most recent call last):
  File "somewhere.py", line 13, in reader
    raise {kind}("subscribe and assign exclude each other")
interfaces.spark.query.failures.{kind}: subscribe and assign exclude each other
 SQLSTATE: 38000"""


@pytest.mark.parametrize("kind", [WrongOption, JobFailed])
def test_our_own_failure_is_found_in_a_workers_traceback(kind: type[Exception]) -> None:
    cause = cause_of(RuntimeError(FROM_A_WORKER.format(kind=kind.__name__)))
    assert type(cause) is kind
    assert str(cause) == "subscribe and assign exclude each other"


def test_other_failures_have_their_first_line() -> None:
    cause = cause_of(RuntimeError("\n[PATH_NOT_FOUND] Path does not exist\nmore\n"))
    assert isinstance(cause, JobFailed)
    assert str(cause) == "[PATH_NOT_FOUND] Path does not exist"
    assert str(cause_of(KeyError())) == "KeyError"


FROM_THE_JVM = """An error occurred while calling z:org.apache.spark.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Could not recover
{first}
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)
Caused by: {cause}
\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:581)
\t... 1 more
"""
IN_A_WORKER = """org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
{raised}
"""


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        ("ValueError: not so", "ValueError: not so"),
        (
            'cimpl.KafkaException: KafkaError{code=_INVALID_ARG,val=-186,str="No such property"}',
            "No such property",
        ),
        ("interfaces.spark.query.failures.JobFailed: the broker left", "the broker left"),
    ],
)
def test_a_workers_traceback_has_the_reason_in_its_last_line(raised: str, reason: str) -> None:
    trace = IN_A_WORKER.replace("{raised}", raised)
    assert str(cause_of(RuntimeError(FROM_THE_JVM.format(first=trace, cause=trace)))) == reason


def test_a_java_stack_trace_has_the_reason_in_its_last_cause() -> None:
    text = FROM_THE_JVM.format(first="x", cause="java.io.IOException: mkdir of /proc/x failed")
    assert str(cause_of(RuntimeError(text))) == "mkdir of /proc/x failed"
    without = "An error occurred while calling o1.start.\n: java.lang.StackOverflowError\n\tat a(c)"
    assert str(cause_of(RuntimeError(without))) == "StackOverflowError"


def test_a_streams_failure_is_that_of_its_batch() -> None:
    failure = RuntimeError("[STREAM_FAILED] Query [id = 1, runId = 2] terminated SQLSTATE: XXKST")
    failure._stackTrace = "org.apache.spark.Q: [STREAM_FAILED]\n\tat a.b(c)\nCaused by: a.B: full"  # type: ignore[attr-defined]
    assert str(cause_of(failure)) == "full"


def test_a_jvm_that_ended_is_reported() -> None:
    class Gone(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    assert str(cause_of(Gone())).startswith("Spark's JVM ended")
