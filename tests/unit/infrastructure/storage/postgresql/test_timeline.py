from __future__ import annotations

import pytest

from infrastructure.storage.postgresql.timeline import NOT_KNOWN, first_epoch


@pytest.mark.parametrize(
    ("timeline", "epoch"),
    [(NOT_KNOWN, 0), (1, 0), (2, 65_536), (3, 131_072), (0x4000, 0x3FFF_0000)],
)
def test_each_timeline_has_leader_epochs_of_its_own(timeline: int, epoch: int) -> None:
    assert first_epoch(timeline) == epoch


@pytest.mark.parametrize("timeline", [0x4001, 0xFFFF_FFFF])
def test_half_of_all_numbers_is_left(timeline: int) -> None:
    assert first_epoch(timeline) == 0x4000_0000
