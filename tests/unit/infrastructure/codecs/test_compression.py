from __future__ import annotations

import gzip
import os
import struct
import subprocess
import sys
import tracemalloc
from random import Random

import cramjam
import pytest
from aiokafka.codec import gzip_decode, lz4_decode, snappy_decode, zstd_decode
from aiokafka.codec import snappy_encode as xerial_encode
from hypothesis import given
from hypothesis import strategies as st

from application.ports.compression import Compression
from domain.errors import CorruptMessage
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, compressed

CODECS = [NONE, GZIP, SNAPPY, LZ4, ZSTD]
PACKED = [GZIP, SNAPPY, LZ4, ZSTD]
LIMIT = 1_000_000
PLAIN = b"".join(b"a line of text, number %d\n" % number for number in range(4000))

compression: Compression = BatchCompression()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_data_of_another_library_is_decompressed(codec: int, kind: type[bytes]) -> None:
    assert compression.decompress(codec, kind(compressed(codec, PLAIN)), LIMIT) == PLAIN


@pytest.mark.parametrize(
    "codec, unpack",
    [(GZIP, gzip_decode), (SNAPPY, snappy_decode), (LZ4, lz4_decode), (ZSTD, zstd_decode)],
)
def test_a_client_decompresses_our_data(codec: int, unpack: object) -> None:
    assert callable(unpack)
    assert bytes(unpack(compression.compress(codec, PLAIN))) == PLAIN


@pytest.mark.parametrize("codec", CODECS)
@given(data=st.binary(max_size=5000))
def test_data_survives_every_codec(codec: int, data: bytes) -> None:
    assert compression.decompress(codec, compression.compress(codec, data), 5000) == data


@pytest.mark.parametrize(
    "codec, levels", [(GZIP, (1, 6, 9)), (LZ4, (1, 3, 10)), (ZSTD, (-131072, 1, 22))]
)
def test_a_higher_level_compresses_more(codec: int, levels: tuple[int, ...]) -> None:
    packed = [compression.compress(codec, PLAIN, level) for level in levels]
    assert [len(one) for one in packed] == sorted({len(one) for one in packed}, reverse=True)
    assert {compression.decompress(codec, one, LIMIT) for one in packed} == {PLAIN}


@pytest.mark.parametrize("codec, level", [(GZIP, -1), (LZ4, 9), (ZSTD, 3)])
def test_the_default_level_is_that_of_kafka(codec: int, level: int) -> None:
    assert compression.compress(codec, PLAIN) == compression.compress(codec, PLAIN, level)


def test_the_default_level_of_lz4_is_the_fast_compressor() -> None:
    """As in Kafka, where 9 is the default of KIP-390 and all other levels are HC."""
    assert compression.compress(LZ4, PLAIN, 9) == compression.compress(LZ4, PLAIN, 1)


@pytest.mark.parametrize("codec", CODECS)
def test_the_limit_is_exact(codec: int) -> None:
    for data in (PLAIN, os.urandom(300_000)):
        packed = compression.compress(codec, data)
        assert compression.decompress(codec, packed, len(data)) == data
        with pytest.raises(CorruptMessage, match="larger than"):
            compression.decompress(codec, packed, len(data) - 1)


@pytest.mark.parametrize("codec", PACKED)
def test_decompression_stops_at_the_limit(codec: int) -> None:
    bomb = compression.compress(codec, bytes(64 << 20))
    tracemalloc.start()
    with pytest.raises(CorruptMessage):
        compression.decompress(codec, bomb, LIMIT)
    assert tracemalloc.get_traced_memory()[1] < 4 * LIMIT
    tracemalloc.stop()


@pytest.mark.parametrize("codec", PACKED)
def test_truncated_data_is_corrupt(codec: int) -> None:
    packed = compression.compress(codec, PLAIN)
    for end in [0, 1, 5, 30, len(packed) // 2, len(packed) - 1]:
        if end or codec != SNAPPY:
            with pytest.raises(CorruptMessage):
                compression.decompress(codec, packed[:end], LIMIT)


@pytest.mark.parametrize("codec", PACKED)
def test_random_changes_raise_nothing_but_corrupt_message(codec: int) -> None:
    random = Random(codec)
    packed = compression.compress(codec, PLAIN[:3000])
    for _ in range(500):
        hostile = bytearray(packed)
        for _ in range(random.randrange(1, 4)):
            hostile[random.randrange(len(hostile))] = random.randrange(256)
        try:
            assert len(compression.decompress(codec, hostile, 10_000)) <= 10_000
        except CorruptMessage:
            pass


def test_an_unknown_codec_is_corrupt() -> None:
    for codec in (5, 6, 7):
        with pytest.raises(CorruptMessage):
            compression.decompress(codec, b"data", LIMIT)


def test_gzip_may_have_several_members() -> None:
    packed = b"".join(gzip.compress(bytes([number]) * 9) for number in range(200))
    plain = b"".join(bytes([number]) * 9 for number in range(200))
    assert compression.decompress(GZIP, packed, LIMIT) == plain
    with pytest.raises(CorruptMessage):
        compression.decompress(GZIP, packed + b"garbage", LIMIT)


def test_the_limit_is_for_all_members_of_gzip() -> None:
    packed = gzip.compress(bytes(600)) * 2
    with pytest.raises(CorruptMessage, match="larger than 1000"):
        compression.decompress(GZIP, packed, 1000)


def test_zstd_can_have_several_frames_without_a_content_size() -> None:
    compressor = cramjam.zstd.Compressor(level=3)
    compressor.compress(PLAIN)
    streamed = bytes(compressor.finish())
    assert compression.decompress(ZSTD, streamed + streamed, LIMIT) == PLAIN * 2


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("checked", [True, False])
def test_lz4_frames_can_be_linked_and_checked(linked: bool, checked: bool) -> None:
    compressor = cramjam.lz4.Compressor(level=1, content_checksum=checked, block_linked=linked)
    compressor.compress(PLAIN)
    assert compression.decompress(LZ4, bytes(compressor.finish()), LIMIT) == PLAIN


def test_our_lz4_frames_have_independent_blocks_for_java() -> None:
    flags = compression.compress(LZ4, PLAIN)[4]
    assert flags & 0b0010_0000


def test_snappy_can_be_raw_or_in_the_framing_of_java() -> None:
    assert compression.decompress(SNAPPY, compressed(SNAPPY, PLAIN), LIMIT) == PLAIN
    framed = bytes(xerial_encode(PLAIN, xerial_compatible=True, xerial_blocksize=1024))
    assert framed.startswith(b"\x82SNAPPY\0")
    assert compression.decompress(SNAPPY, framed, LIMIT) == PLAIN
    assert compression.decompress(SNAPPY, framed + framed, LIMIT) == PLAIN * 2


@pytest.mark.parametrize(
    "rest",
    [b"\0", b"\0\0\0", struct.pack(">i", -1), struct.pack(">i", 0), struct.pack(">i", 2**31 - 1)],
)
def test_a_snappy_block_with_a_wrong_length_is_corrupt(rest: bytes) -> None:
    with pytest.raises(CorruptMessage, match="snappy"):
        compression.decompress(SNAPPY, compression.compress(SNAPPY, PLAIN) + rest, LIMIT)


def test_a_snappy_block_with_a_huge_length_allocates_nothing() -> None:
    claim = b"\xff\xff\xff\xff\x0f"
    tracemalloc.start()
    with pytest.raises(CorruptMessage, match="larger than"):
        compression.decompress(SNAPPY, claim, LIMIT)
    assert tracemalloc.get_traced_memory()[1] < LIMIT
    tracemalloc.stop()


def test_the_library_is_not_imported_before_its_first_use() -> None:
    script = "import sys, infrastructure.codecs.compression; print('cramjam' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
