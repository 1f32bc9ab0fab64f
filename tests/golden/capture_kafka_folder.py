"""Writes kafka_folder/folder.txt: the log folder of a real Kafka that was stopped cleanly, and what
its clients read before. Without indexes, which nothing reads.

    python -m tests.golden.capture_kafka_folder [--kafka LIBS]
"""

from __future__ import annotations

import io
import json
import lzma
import sys
import tarfile
import tempfile
from base64 import b85encode
from pathlib import Path
from textwrap import wrap

from tests.e2e.kafka_folder.filling import SETTINGS, expected, fill
from tests.fakes.kafka_folder import EXPECTED, FOLDER
from tests.oracle.kafka import find_jars, running_kafka
from tests.tool import Arguments

#: Of the open transaction: every test that imports it comes later.
TIMEOUT_MS = 30_000
_INDEXES = (".index", ".timeindex")


def main(arguments: list[str]) -> None:
    parser = Arguments(prog="tests.golden.capture_kafka_folder")
    parser.add_argument("--kafka", type=Path, help="a folder with the jars of a Kafka 4.2")
    jars = parser.parse_args(arguments).kafka or find_jars()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with running_kafka(jars, folder, SETTINGS) as address:
            opened = fill(address, folder / "data", TIMEOUT_MS)
            found = expected(address.bootstrap)
        del opened
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in sorted((folder / "data").rglob("*")):
                if path.suffix not in (*_INDEXES, ".deleted"):
                    archive.add(path, str(path.relative_to(folder)), recursive=False)
            text = json.dumps(found).encode()
            facts = tarfile.TarInfo(EXPECTED)
            facts.size = len(text)
            archive.addfile(facts, io.BytesIO(text))
    FOLDER.parent.mkdir(exist_ok=True)
    lines = wrap(b85encode(lzma.compress(packed.getvalue())).decode(), 120)
    FOLDER.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
