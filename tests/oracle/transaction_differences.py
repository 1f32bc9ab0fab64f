"""Differences of requests about transactions."""

from __future__ import annotations

from tests.oracle.difference import Difference

_CODE = "markers[].topics[].partitions[].error_code"
WRITE_TXN_MARKERS = (
    Difference(
        *("write_txn_markers", "2", ("transaction version 2: 6: version -1, epoch 4",)),
        *(_CODE, -1, 42),
        "Illegal values get an error that says so. A marker with producer id -2 Kafka writes.",
    ),
    Difference(
        *("write_txn_markers", "1-2"),
        (
            "illegal producers: producer -1, epoch 0",
            "illegal producers: producer 900001, epoch -1",
        ),
        *(_CODE, -1, 42),
        "As above.",
    ),
    Difference(
        *("write_txn_markers", "1-2", ("illegal producers: producer -2, epoch 0",)),
        *(_CODE, 0, 42),
        "As above.",
    ),
)

TRANSACTIONS = (*WRITE_TXN_MARKERS,)
