from __future__ import annotations

import subprocess
import sys

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


def test_loading_it_does_not_load_what_a_start_has_no_time_for() -> None:
    script = (
        "import sys, infrastructure.codecs.checksum as c; "
        "print(c.crc32c(b'123456789') == 0xE3069283, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def test_the_package_itself_can_be_imported_beside_it() -> None:
    from crc32c import crc32c as imported

    assert imported(b"any data") == checksum(b"any data")
