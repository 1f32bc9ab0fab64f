from __future__ import annotations

import json
import random

import pytest

from interfaces.rest.records import json_stream
from interfaces.rest.records.json_stream import JsonObjects, NotObjects


def read(body: bytes, size: int, most_bytes: int = 1 << 20) -> list[bytes]:
    objects = JsonObjects(most_bytes)
    found: list[bytes] = []
    for start in range(0, len(body), size):
        found += [each for each in objects.feed(body[start : start + size]) if each is not None]
    objects.finish()
    return found


TRICKY = [
    {},
    {"a": [1, {"b": "}"}], "c": '"{['},
    {"\\": "\\\\", "q": '\\"', "{": "]"},
    {"ä": "😀", "n": None, "deep": [[[[]]]]},
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("between", [b"", b"\n", b" \r\n\t "])
def test_objects_are_found_however_the_body_is_cut(size: int, between: bytes) -> None:
    body = between.join(json.dumps(each).encode() for each in TRICKY) + between
    assert [json.loads(each) for each in read(body, size)] == TRICKY


def test_random_objects_come_back_as_they_were() -> None:
    rng = random.Random(3)
    for _ in range(100):
        wanted = [
            {"k": "".join(rng.choice('{}[]"\\ ab') for _ in range(rng.randint(0, 20)))}
            for _ in range(rng.randint(0, 5))
        ]
        body = b"".join(json.dumps(each).encode() for each in wanted)
        assert [json.loads(each) for each in read(body, rng.randint(1, 9))] == wanted


@pytest.mark.parametrize("body", [b"[1]", b'{"a":1},{"b":2}', b"x", b"\xff", b'{"a":1} 5'])
def test_what_is_no_object_ends_it(body: bytes) -> None:
    with pytest.raises(NotObjects, match="expected an object"):
        read(body, 100)


def test_what_came_before_was_right() -> None:
    objects = JsonObjects(1000).feed(b'{"a":1} nonsense')
    assert next(objects) == b'{"a":1}'
    with pytest.raises(NotObjects):
        next(objects)


@pytest.mark.parametrize("body", [b'{"a":', b'{"a":"\\', b'{"a":1}{'])
def test_an_end_within_an_object(body: bytes) -> None:
    with pytest.raises(NotObjects, match="ends within"):
        read(body, 100)


def test_an_object_without_an_end_is_not_kept() -> None:
    with pytest.raises(NotObjects, match="larger than 1000 bytes"):
        read(b'{"a":"' + b"x" * 5000, 100, most_bytes=1000)


def test_each_byte_is_looked_at_once() -> None:
    objects = JsonObjects(1 << 20)
    assert list(objects.feed(b'{"a":"' + b"x" * 1000)) == []
    assert objects._looked_at == 1006


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
def test_pauses_change_nothing(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "BYTES_AT_ONCE", at_once)
    body = b" \n ".join(json.dumps(each).encode() for each in TRICKY)
    for size in (1, 2, 3, 1000):
        assert [json.loads(each) for each in read(body, size)] == TRICKY


@pytest.mark.parametrize(
    "body", [b'{"a":' + b"[]" * 50_000, b" " * 100_000, b'{"a":"' + b'\\"' * 50_000]
)
def test_others_may_have_their_turn_however_many_marks_there_are(body: bytes) -> None:
    pauses = list(JsonObjects(1 << 20).feed(body))
    assert set(pauses) == {None}
    assert len(pauses) >= len(body) // json_stream.BYTES_AT_ONCE - 1
