from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from interfaces.cli.failures import UsageError
from interfaces.cli.format import Headers, Reader, literal, printer


def record(
    key: bytes | None = b"k", value: bytes | None = b"v", headers: Headers | None = None
) -> SimpleNamespace:
    return SimpleNamespace(
        topic=lambda: "orders",
        partition=lambda: 3,
        offset=lambda: 47,
        key=lambda: key,
        value=lambda: value,
        headers=lambda: headers,
        timestamp=lambda: (1, 1_700_000_000_123),
    )


HEADED = record(headers=[("a", b"1"), ("b", None)])


@pytest.mark.parametrize(
    "text, message, printed",
    [
        (r"%t-%p@%o\n", record(), b"orders-3@47\n"),
        ("%k=%v=%s", record(), b"k=v=v"),
        ("%k %v %K %V %S", record(None, None), b"  -1 -1 -1"),
        ("%K %S", record(b"", b"abc"), b"0 3"),
        ("%h %H", HEADED, b"a=1,b= 2"),
        ("%T %d", record(), b"1700000000123 2023-11-14T22:13:20.123Z"),
        (r"100%% \x41\t\\", record(), b"100% A\t\\"),
        ("%v", record(value=b"\xff\x00"), b"\xff\x00"),
        ("", record(), b""),
    ],
)
def test_a_record_is_printed(text: str, message: SimpleNamespace, printed: bytes) -> None:
    assert printer(text)(message) == printed


@pytest.mark.parametrize("text", ["%q", "%", r"\q", "abc%", "abc\\"])
def test_an_invalid_output_format_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        printer(text)


def read(text: str, data: bytes, piece: int = 1 << 16) -> list[dict[str, bytes]]:
    stream = io.BytesIO(data)
    return list(Reader(text).records(lambda size: stream.read(min(size, piece))))


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_records_are_read_in_pieces_of_any_size(piece: int) -> None:
    found = read(r"%k::%v;;", b"a::1;;b::2;;c::", piece)
    assert found == [{"k": b"a", "v": b"1"}, {"k": b"b", "v": b"2"}, {"k": b"c", "v": b""}]


def test_a_record_ends_with_its_line_by_default() -> None:
    assert read("%v", b"a\nb c\n\nd") == [{"v": b"a"}, {"v": b"b c"}, {"v": b""}, {"v": b"d"}]


def test_text_before_the_first_field_is_skipped() -> None:
    assert read(r"<%t|%p> %v\n", b"<t|1> x\n") == [{"t": b"t", "p": b"1", "v": b"x"}]


@pytest.mark.parametrize("text", ["%k%v", "%v %v", "only words", "%o"])
def test_an_invalid_input_format_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Reader(text)


def test_the_first_record_that_does_not_match_the_format_is_named() -> None:
    with pytest.raises(UsageError, match="record 2"):
        read("%k:%v", b"a:1\nno colon\n")


def test_a_delimiter_may_have_escapes_but_no_fields() -> None:
    assert literal(r"\t%k\x00") == b"\t%k\0"
