"""A task with `exactlyOnce=true`, and its attempts after failures, without a JVM."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from interfaces.spark.kafka.sink_transactions import TransactionalSending
from interfaces.spark.query.failures import JobFailed
from tests.e2e.spark.kafka.topics import options_of, read_committed

Attempt = Callable[[int], TransactionalSending]


@pytest.fixture
def attempt(servers: str) -> Attempt:
    """Attempts of task 0 of one query; the argument is the number of the micro-batch."""
    query = str(uuid4())
    return lambda batch: TransactionalSending(options_of(servers), query, batch, 0)


def send(sending: TransactionalSending, topic: str, *values: bytes) -> None:
    for value in values:  # each is a slice of the rows
        sending.send({topic}, [(topic, value, None, 0, sending.delivered)])


def test_a_task_repeats_a_committed_micro_batch_without_sending_it(
    servers: str, topic: str, attempt: Attempt
) -> None:
    for batch, values in ((0, (b"a", b"b")), (0, (b"a", b"b")), (1, (b"c",)), (1, (b"c",))):
        sending = attempt(batch)
        send(sending, topic, *values)
        sending.finish()
    assert read_committed(servers, topic) == [b"a", b"b", b"c"]


def test_a_new_attempt_aborts_what_a_killed_one_left_open(
    servers: str, topic: str, attempt: Attempt
) -> None:
    killed, repeated = attempt(0), attempt(0)
    send(killed, topic, b"a", b"b")
    killed._flush()
    assert read_committed(servers, topic) == []

    send(repeated, topic, b"a", b"b")
    repeated.finish()
    assert read_committed(servers, topic) == [b"a", b"b"]
    with pytest.raises(JobFailed, match=r"ottla-spark-.*FENCED"):
        killed.finish()
    assert read_committed(servers, topic) == [b"a", b"b"]


def test_a_failed_task_aborts_its_transaction_at_once(
    servers: str, topic: str, attempt: Attempt
) -> None:
    failed, other = attempt(0), TransactionalSending(options_of(servers), str(uuid4()), 0, 0)
    send(failed, topic, b"a")
    failed._flush()
    send(other, topic, b"b")
    other.finish()
    assert read_committed(servers, topic) == []
    failed.abort()
    assert read_committed(servers, topic) == [b"b"]


def test_other_rows_than_those_committed_are_refused(
    servers: str, topic: str, attempt: Attempt
) -> None:
    first, fewer, older = attempt(7), attempt(7), attempt(6)
    send(first, topic, b"a", b"b")
    first.finish()
    send(fewer, topic, b"a")
    with pytest.raises(JobFailed, match="with 1 rows in this task, and 2 are committed"):
        fewer.finish()
    with pytest.raises(JobFailed, match="micro-batch 7 is committed, and Spark repeats 6: "):
        send(older, topic, b"a")
    assert read_committed(servers, topic) == [b"a", b"b"]
