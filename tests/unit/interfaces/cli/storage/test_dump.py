from __future__ import annotations

import pytest

from domain.messages.control import EndMarker, end_marker
from infrastructure.codecs.checksum import crc32c
from interfaces.cli.storage.dump import _lines


@pytest.mark.parametrize(("committed", "word"), [(True, "COMMIT"), (False, "ABORT")])
def test_a_marker_is_shown_as_by_kafka_dump_log(committed: bool, word: str) -> None:
    batch = end_marker(EndMarker(7, 1, 3, committed), 1000, crc32c)
    facts, record = _lines(batch, True)
    assert "isTransactional: true isControl: true" in facts
    assert record == (
        "| offset: 0 CreateTime: 1000 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
        f"endTxnMarker: {word} coordinatorEpoch: 3"
    )
