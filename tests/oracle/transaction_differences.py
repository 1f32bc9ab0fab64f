"""Differences of requests about transactions."""

from __future__ import annotations

from tests.oracle.difference import Difference, Words

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

TXN_OFFSET_COMMIT = (
    Difference(
        *("txn_offset_commit", "0-5"),
        ("another producer with an earlier epoch: an earlier epoch",),
        *("topics[].partitions[].error_code", 47, 49),
        "Kafka compares the epoch with markers in `__consumer_offsets` first, which Ottla does not "
        "write. Both errors are fatal for the producer.",
    ),
)

PRODUCE = (
    Difference(
        *("produce", "3-13", ("batches behind refused ones: the third one",)),
        *("responses[].partition_responses[].error_code", 45, 0),
        "A batch with a later epoch was refused before, which is not this producer's. Kafka takes "
        "it for one that this producer sends again.",
    ),
    Difference(
        *("produce", "3-13", ("batches behind refused ones: the third one",)),
        *("responses[].partition_responses[].base_offset", -1, 2),
        "As above.",
    ),
)

_SUCCESSFUL = (
    "zombies: a commit after a commit in version 3",
    "zombies: an abort after an abort in version 3",
)
_ILLEGAL = (
    "zombies: an abort after a commit in version 3",
    "zombies: a commit after an abort in version 3",
)
END_TXN = (
    Difference(
        *("end_txn", "5", _SUCCESSFUL),
        *("error_code", 0, 90),
        "The producer's successor has ended its transaction in an earlier version, without another "
        "epoch: Kafka takes the request for its retry, and the fenced producer gets the epoch of "
        "its successor.",
    ),
    Difference(
        *("end_txn", "5", _SUCCESSFUL),
        *("producer_*", Words("those of the successor"), -1),
        "As above.",
    ),
    Difference(*("end_txn", "5", _ILLEGAL), *("error_code", 48, 90), "As above."),
    Difference(
        *("end_txn", "5", ("aborts: a commit instead",)),
        *("error_code", 48, 90),
        "A commit after the broker aborted a transaction that timed out: the producer is fenced, "
        "as in later versions of Kafka (KAFKA-20785). Kafka Streams continues after this error.",
    ),
)

TRANSACTIONS = (*END_TXN, *PRODUCE, *WRITE_TXN_MARKERS, *TXN_OFFSET_COMMIT)
