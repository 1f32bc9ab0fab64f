"""A store that is filled, and then compacted:

python -m tests.power.compaction DISK MARKS ENGINE
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from application.state.runtime import ignore
from infrastructure.opening import folder_of, open_storage

ROWS = 100


def main() -> None:
    folder, engine = Path(sys.argv[1]) / "data", sys.argv[3]
    marks = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
    storage = open_storage(f"{engine}://{folder}", "commit")
    for left in (2 * ROWS, ROWS):
        for number in range(2 * ROWS):
            value = bytes([number]) * 3000 if number < left else None
            storage.state.put("rows", b"%d" % number, value)
        storage.commit.commit(ignore)
    storage.commit.close()
    os.write(marks, b"filled")
    before, after = folder_of(f"{engine}://{folder}").compact(lambda share: None)
    assert after < before


if __name__ == "__main__":
    main()
