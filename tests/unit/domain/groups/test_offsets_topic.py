"""What no record can hold; the bytes are in tests/golden."""

from __future__ import annotations

import pytest

from domain.groups.classic.metadata_record import group_record
from domain.groups.offsets_topic import offset_records
from domain.topics.internal_records import TooLong
from tests.fakes.groups import committed


def test_a_text_that_does_not_fit_into_a_record_is_refused() -> None:
    one = committed()
    assert offset_records("g" * 32767, [("t", 0, one)])
    with pytest.raises(TooLong):
        offset_records("g" * 32768, [("t", 0, one)])
    with pytest.raises(TooLong):
        group_record("ä" * 16384, None)
