from __future__ import annotations

import pytest

from application.ports.checksum import Checksum
from application.ports.log_store import Buffer
from infrastructure.codecs.checksum import crc32c

checksum: Checksum = crc32c


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_the_check_value_of_castagnoli(kind: type[bytes]) -> None:
    data: Buffer = kind(b"123456789")
    assert checksum(data) == 0xE3069283


def test_a_view_of_a_part_is_read_where_it_lies() -> None:
    assert checksum(memoryview(bytearray(b"..123456789.."))[2:-2]) == 0xE3069283
    assert checksum(b"") == 0
