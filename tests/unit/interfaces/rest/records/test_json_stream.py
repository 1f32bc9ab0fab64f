from __future__ import annotations

import json

import pytest

from interfaces.rest.records import json_stream
from interfaces.rest.records.json_stream import JsonObjects, NotObjects


def read(body: bytes, size: int, most_bytes: int = 1 << 20) -> list[bytes]:
    found: list[bytes] = []
    read_into(found, body, size, most_bytes)
    return found


def read_into(found: list[bytes], body: bytes, size: int, most_bytes: int = 1 << 20) -> None:
    objects = JsonObjects(most_bytes)
    for start in range(0, len(body), size):
        found.extend(filter(None, objects.feed(body[start : start + size])))
    objects.finish()


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


@pytest.mark.parametrize(
    "body", [b"[1]", b"x", b"\xff", b'{"a":1} 5', b'{"a":', b'{"a":"\\', b'{"a":1}{']
)
def test_a_body_that_ends_within_an_object_is_refused(body: bytes) -> None:
    with pytest.raises(NotObjects, match="does not end with an object"):
        read(body, 100)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("text", [b"}}", b"[", b",", b'"', b"5 ", b"\\"])
def test_nothing_is_read_behind_other_text(text: bytes, size: int) -> None:
    found: list[bytes] = []
    with pytest.raises(NotObjects, match="expected an object, one after the other"):
        read_into(found, b'{"a":1}\n' + text + b'{"b":2}', size)
    assert found == [b'{"a":1}']


def test_an_object_over_the_size_limit_is_refused() -> None:
    with pytest.raises(NotObjects, match="larger than 1000 bytes"):
        read(b'{"a":"' + b"x" * 5000, 100, most_bytes=1000)


@pytest.mark.parametrize(
    "body", [b'{"a":' + b"[]" * 50_000, b" " * 100_000, b'{"a":"' + b'\\"' * 50_000]
)
def test_parsing_pauses_regularly(body: bytes) -> None:
    objects = JsonObjects(1 << 20)
    pauses = list(objects.feed(body))
    assert set(pauses) == {None}
    assert len(pauses) >= len(body) // json_stream.BYTES_AT_ONCE
    assert objects._position == len(body)
