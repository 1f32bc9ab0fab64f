from __future__ import annotations

import subprocess
import sys

import pytest

from application.ports.checksum import Checksum
from application.ports.log_store import Buffer
from infrastructure.codecs.checksum import crc32c

checksum: Checksum = crc32c


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_the_checksum_is_crc32c(kind: type[bytes]) -> None:
    data: Buffer = kind(b"123456789")
    assert checksum(data) == 0xE3069283


def test_a_part_of_a_buffer_has_its_checksum() -> None:
    assert checksum(memoryview(bytearray(b"..123456789.."))[2:-2]) == 0xE3069283
    assert checksum(b"") == 0


def test_the_import_does_not_load_package_metadata() -> None:
    script = (
        "import sys, infrastructure.codecs.checksum as c; "
        "print(c.crc32c(b'123456789') == 0xE3069283, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]


def test_the_package_can_be_imported_too() -> None:
    from crc32c import crc32c as imported

    assert imported(b"any data") == checksum(b"any data")
