from __future__ import annotations

from interfaces.kafka.wire.connection import Connection, Reply
from interfaces.kafka.wire.framing import ReadBuffer


def new_connection(replies: int) -> tuple[Connection, list[Reply]]:
    connection = Connection(ReadBuffer(), 1 << 20)
    made = [Reply() for _ in range(replies)]
    connection.replies.extend(made)
    return connection, made


def sent(connection: Connection) -> bytes:
    return b"".join(connection.ready())


def test_answers_leave_in_the_order_of_the_requests() -> None:
    connection, (first, second, third) = new_connection(3)
    third.fill(3, [b"c"], False)
    second.fill(2, [b"b"], False)
    assert sent(connection) == b""
    first.fill(1, [b"a"], False)
    assert sent(connection) == (b"\0\0\0\x05\0\0\0\x01a\0\0\0\x05\0\0\0\x02b\0\0\0\x05\0\0\0\x03c")
    assert sent(connection) == b""
    assert not connection.replies


def test_an_answer_that_is_nothing_does_not_hold_back_the_next() -> None:
    connection, (first, second) = new_connection(2)
    second.fill(2, [b"b"], False)
    first.fill_with_nothing()
    assert sent(connection) == b"\0\0\0\x05\0\0\0\x02b"


def test_pieces_are_sent_as_they_are() -> None:
    connection, (reply,) = new_connection(1)
    records = memoryview(b"x" * 1000)
    assert reply.fill(1, [b"ab", records, b"c"], True) == 9 + 1003
    start, *pieces = connection.ready()
    assert start == (1008).to_bytes(4, "big") + b"\0\0\0\x01\0"
    assert pieces[1] is records
