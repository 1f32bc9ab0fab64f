from __future__ import annotations

from interfaces.kafka.wire.connection import Connection, Piece, Reply
from interfaces.kafka.wire.framing import ReadBuffer


def new_connection(replies: int) -> tuple[Connection, list[Reply]]:
    connection = Connection(ReadBuffer(), 1 << 20)
    made = [Reply() for _ in range(replies)]
    connection.replies.extend(made)
    return connection, made


def pieces(connection: Connection) -> list[Piece]:
    return [piece for reply in connection.answered() for piece in reply.pieces or ()]


def test_answers_leave_in_the_order_of_the_requests() -> None:
    connection, (first, second, third) = new_connection(3)
    third.pieces = [b"c"]
    second.pieces = [b"b1", b"b2"]
    assert pieces(connection) == []
    first.pieces = [b"a"]
    assert pieces(connection) == [b"a", b"b1", b"b2", b"c"]
    assert pieces(connection) == []
    assert not connection.replies


def test_what_is_not_answered_holds_back_what_follows() -> None:
    connection, (first, second, third) = new_connection(3)
    first.pieces, third.pieces = [b"a"], [b"c"]
    assert pieces(connection) == [b"a"]
    assert list(connection.replies) == [second, third]


def test_an_answer_that_is_nothing_does_not_hold_back_the_next() -> None:
    connection, (first, second) = new_connection(2)
    first.pieces, second.pieces = [], [b"b"]
    assert pieces(connection) == [b"b"]


def test_pieces_are_sent_as_they_are() -> None:
    connection, (reply,) = new_connection(1)
    records = memoryview(b"x" * 1000)
    reply.pieces = [b"ab", records]
    assert pieces(connection)[1] is records
