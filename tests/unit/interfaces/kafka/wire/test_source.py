from __future__ import annotations

from interfaces.kafka.wire.source import Source


def test_indented_blocks_compile_to_a_function() -> None:
    source = Source(limit=3)
    with source.block("def count():"):
        with source.block("if limit:"):
            source.line("return limit")
        source.line("return 0")
    assert source.compile("count", "a test")() == 3


def test_fresh_names_are_unique_and_values_are_bound_once() -> None:
    source = Source()
    assert source.fresh("n") != source.fresh("n")
    assert source.bind("zero", 0) == source.bind("zero", 0) == "zero"


def test_packers_of_one_format_are_shared() -> None:
    source = Source()
    name = source.packer("i16s?")
    assert name == source.packer("i16s?")
    assert name.isidentifier()
    assert source.names[name](1, bytes(16), True) == b"\0\0\0\1" + bytes(16) + b"\1"
    assert source.names[source.unpacker("hB")](b"\0\5\6", 0) == (5, 6)
