from __future__ import annotations

from interfaces.cli.txn_partitions import hanging
from interfaces.kafka.wire.messages.describe_producers import ProducerState

NOW_MS = 10 * 60_000


def test_a_transaction_hangs_if_no_coordinator_has_it_in_this_partition() -> None:
    open_ones = [
        (("orders", 0), open_from(5, 1)),
        (("orders", 1), open_from(6, 1)),
        (("orders", 0), open_from(7, 2)),
    ]
    found = hanging(open_ones, {1: {("orders", 0)}}, NOW_MS)
    assert [(one["partition"], one["producer_id"], one["start_offset"]) for one in found] == [
        (1, 1, 6),
        (0, 2, 7),
    ]
    assert found[0]["duration_minutes"] == 9


def open_from(offset: int, producer_id: int) -> ProducerState:
    return ProducerState(
        producer_id=producer_id, current_txn_start_offset=offset, last_timestamp=60_000
    )
