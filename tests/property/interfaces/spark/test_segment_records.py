"""Records as columns are the records that the domain decodes one by one, or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRecord
from domain.messages.batch import RecordBatch
from domain.messages.message import Message, decode_messages, encode_messages
from infrastructure.codecs.checksum import crc32c
from tests.fakes.batches import record_batch

pytest.importorskip("numpy", reason="needs what comes with Spark")

import numpy

from interfaces.spark.query.columns import arrow_columns
from interfaces.spark.query.ranges import Place
from interfaces.spark.segments.arrays import rows_of
from interfaces.spark.segments.records import Opened, decode

BASE_TIME = 1_700_000_000_000

FIELD = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.binary(max_size=5), FIELD), max_size=4)
MESSAGE = st.builds(
    lambda delta, time, key, value, headers: (delta, time, key, value, tuple(headers)),
    st.integers(0, 2**31 - 1), st.integers(-(2**40), 2**40), FIELD, FIELD, HEADERS,
)  # fmt: skip
BATCH = st.lists(MESSAGE, min_size=1, max_size=40)


def opened(messages: list[Any], base_offset: int = 0, by_log: bool = False) -> Opened:
    payload = encode_messages(
        [Message(base_offset + d, BASE_TIME + t, k, v, h) for d, t, k, v, h in messages],
        base_offset,
        BASE_TIME,
    )
    header = record_batch(
        ["" for _ in messages],
        base_offset=base_offset,
        timestamp=BASE_TIME,
        log_append_time=by_log,
        count=len(messages),
        payload=payload,
    )
    batch = RecordBatch(memoryview(bytes(header)))
    assert crc32c(batch.buffer[21:]) == batch.crc
    return Opened(batch, payload)


def by_the_domain(each: Opened, by_log: bool) -> list[Message]:
    batch = each.batch
    stamped = batch.max_timestamp if by_log else None
    return list(
        decode_messages(each.payload, batch.base_offset, batch.base_timestamp, batch.count, stamped)
    )


def as_messages(batches: list[Opened], with_headers: bool) -> list[Message]:
    records = decode(batches, with_headers)
    chosen = numpy.arange(len(records.offset))
    rows = rows_of(records, chosen, batches, Place("t", 3), arrow_columns(with_headers))
    rows.validate(full=True)
    found = [rows.column(name).to_pylist() for name in ("offset", "key", "value")]
    headers = rows.column("headers").to_pylist() if with_headers else [None] * len(chosen)
    return [
        Message(offset, int(time), key, value, tuple((h["key"], h["value"]) for h in pairs or ()))
        for offset, time, key, value, pairs in zip(
            found[0], records.timestamp, *found[1:], headers, strict=True
        )
    ]


def shown(message: Message, with_headers: bool) -> Message:
    headers = tuple((name.decode("utf-8", "replace"), value) for name, value in message.headers)
    return Message(
        message.offset, message.timestamp, message.key, message.value,
        headers if with_headers else (),  # type: ignore[arg-type]
    )  # fmt: skip


@given(batches=st.lists(BATCH, min_size=1, max_size=4), by_log=st.booleans())
@pytest.mark.parametrize("with_headers", [True, False])
def test_several_batches_are_what_the_domain_makes_of_each(
    batches: list[list[Any]], by_log: bool, with_headers: bool
) -> None:
    several = [opened(each, 1000 * number, by_log) for number, each in enumerate(batches)]
    expected = [
        shown(message, with_headers) for each in several for message in by_the_domain(each, by_log)
    ]
    assert as_messages(several, with_headers) == expected


@given(batch=BATCH, data=st.data())
def test_what_the_domain_refuses_is_refused(batch: list[Any], data: st.DataObject) -> None:
    """And what it takes is taken alike: bytes changed, cut off or put in anywhere."""
    payload = bytearray(opened(batch).payload)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(payload) - 1))
        change = data.draw(st.sampled_from(["set", "cut", "insert"]))
        if change == "set" or len(payload) < 2:
            payload[place] = data.draw(st.integers(0, 255))
        elif change == "cut":
            del payload[place : place + data.draw(st.integers(1, 9))]
        else:
            payload[place:place] = data.draw(st.binary(min_size=1, max_size=9))
        if not payload:
            return
    hostile = Opened(opened(batch).batch, bytes(payload))
    behind = opened([(0, 0, b"k", b"v", ((b"h", b"1"),))], 1000)
    try:
        expected = [shown(each, True) for each in by_the_domain(hostile, False)]
    except InvalidRecord:
        for batches in ([hostile], [hostile, behind]):
            with pytest.raises(InvalidRecord):
                decode(batches, True)
        return
    assert as_messages([hostile], True) == expected


def test_records_with_more_headers_than_most_are_read_one_by_one() -> None:
    many = tuple((b"h%d" % number, None if number % 3 else b"v") for number in range(500))
    messages = [(n, 0, None, b"", many if n % 7 == 0 else many[: n % 3]) for n in range(40)]
    one = opened(messages)
    assert as_messages([one], True) == [shown(m, True) for m in by_the_domain(one, False)]
