"""A folder that no row knows, because a power cut took the store back to the flush before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.ports.log_store import LogName
from tests.unit.infrastructure.storage.files.stores import (
    ID,
    NAME,
    a_batch,
    after_a_reboot,
    append,
    everything,
    keep,
    opened,
)


@pytest.mark.parametrize("name", [NAME, None])
@pytest.mark.parametrize("partition_id", [ID, 8])
def test_segments_in_it_are_not_taken_for_those_of_the_next_log(
    tmp_path: Path, partition_id: int, name: LogName | None
) -> None:
    storage = opened(tmp_path / "store", "interval")
    storage.log.name(ID, name)
    for offset in range(3):
        append(storage, offset, segment=True)
    again = opened(after_a_reboot(tmp_path / "store", tmp_path / "cut"), "interval")
    again.log.name(partition_id, NAME._replace(topic_id=bytes(16)))
    keep(again)
    for offset in (0, 5):  # in one pass
        again.log.append(partition_id, offset, a_batch(offset), begins_segment=True)
    keep(again)
    again.commit.close()

    reopened = opened(tmp_path / "cut", "interval")

    assert everything(reopened, partition_id) == [0, 5]
