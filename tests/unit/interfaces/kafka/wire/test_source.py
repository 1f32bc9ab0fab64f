from __future__ import annotations

from interfaces.kafka.wire.source import Source


def test_blocks_are_indented_and_the_function_comes_out() -> None:
    source = Source(limit=3)
    with source.block("def count():"):
        with source.block("if limit:"):
            source.line("return limit")
        source.line("return 0")
    assert source.compile("count", "a test")() == 3


def test_names_are_fresh_and_bound_once() -> None:
    source = Source()
    assert source.fresh("n") != source.fresh("n")
    assert source.bind("zero", 0) == source.bind("zero", 0) == "zero"


def test_packers_of_one_format_are_shared_and_their_names_are_identifiers() -> None:
    source = Source()
    name = source.packer("i16s?")
    assert name == source.packer("i16s?")
    assert name.isidentifier()
    assert source.names[name](1, bytes(16), True) == b"\0\0\0\1" + bytes(16) + b"\1"
    assert source.names[source.unpacker("hB")](b"\0\5\6", 0) == (5, 6)
