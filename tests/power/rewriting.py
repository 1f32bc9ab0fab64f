"""A log whose segments compaction rewrites: `python -m tests.power.rewriting DISK MARKS FLUSH`.

The marks: `committed` after each commit, and `flushed` after a flush.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import cast

from application.ports.log_store import LogName, LogStore
from application.state.runtime import ignore
from infrastructure.opening import open_storage
from infrastructure.storage.flush import Flush
from tests.contract.batches import batch

ID = 7
_NAME = LogName("orders", 0, bytes(range(16)))
_BATCHES = [batch(offset, b"%d" % offset, size_bytes=1500) for offset in range(9)]
_SMALLER = batch(1, b"smaller", size_bytes=700)
_SEGMENT_BATCHES = 3


def _replace(first: int, last: int, *left: bytes) -> Callable[[LogStore], object]:
    return lambda log: log.replace(ID, first, last, left, [])


def _append(log: LogStore) -> None:
    log.append(ID, 8, _BATCHES[8])


#: What is done in a commit, and what the log has then.
STEPS: list[tuple[Callable[[LogStore], object], list[bytes]]] = [
    (_replace(0, 0), _BATCHES[1:8]),
    # The first segment is complete, the second one has begun,
    (_replace(2, 3), [_BATCHES[1], *_BATCHES[4:8]]),
    # and goes.
    (_replace(4, 5), [_BATCHES[1], *_BATCHES[6:8]]),
    (_replace(1, 1, _SMALLER), [_SMALLER, *_BATCHES[6:8]]),
    (_append, [_SMALLER, *_BATCHES[6:9]]),
    (_replace(6, 7), [_SMALLER, _BATCHES[8]]),
    (_replace(8, 8), [_SMALLER]),
]
STATES = [b"".join(_BATCHES[:8]), *(b"".join(left) for _, left in STEPS)]


def main() -> None:
    storage = open_storage(f"files://{sys.argv[1]}/data", cast(Flush, sys.argv[3]))
    marks = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
    storage.log.name(ID, _NAME)
    for offset in range(8):
        storage.log.append(
            ID, offset, _BATCHES[offset], begins_segment=not offset % _SEGMENT_BATCHES
        )
    storage.commit.commit(ignore)
    _flush(storage.start_flush)
    os.write(marks, b"committed")
    os.write(marks, b"flushed")
    for number, (step, _) in enumerate(STEPS):
        step(storage.log)
        storage.commit.commit(ignore)
        os.write(marks, b"committed")
        if number % 3 == 0 and storage.start_flush is not None:
            _flush(storage.start_flush)
            os.write(marks, b"flushed")
    storage.commit.close()


def _flush(start_flush: Callable[[], None] | None) -> None:
    if start_flush is not None:
        start_flush()
        for thread in threading.enumerate():
            if thread.name == "ottla-flush":
                thread.join()


if __name__ == "__main__":
    main()
