"""Differences from the recording because the store is in PostgreSQL."""

from __future__ import annotations

from tests.oracle.difference import Difference, Words

_COPIES = "min.insync.replicas counts copies in PostgreSQL, and there is one."
_SCENARIO = "more in sync replicas than brokers"
_TRANSACTIONS = (
    "validation: a higher level of transactions",
    "validation: a lower level of transactions without its type",
    "validation: the level of transactions",
)

POSTGRESQL = (
    Difference(
        *("api_versions", "4", ("*",), "supported_features.transaction.version"),
        *("0-2", "0-1", "Transaction version 2 is not built for several brokers."),
    ),
    Difference(
        *("produce", "3-13", (f"{_SCENARIO}: acks -1",), "responses[].partition_responses[].*"),
        *(Words("stored"), Words("NOT_ENOUGH_REPLICAS (19)"), _COPIES),
        (("responses[].partition_responses[].error_code", 0, 19),),
    ),
    Difference(
        *("produce", "3-13", (f"{_SCENARIO}: acks 1",)),
        *("responses[].partition_responses[].base_offset", 1, 0, _COPIES),
    ),
    Difference(
        *("produce", "3-13", (f"{_SCENARIO}: stored",), "responses[].partitions[].*"),
        *(Words("three records"), Words("two records"), _COPIES),
    ),
    Difference(
        *("update_features", "1-2", _TRANSACTIONS, "*"),
        *(Words("levels 0 to 2"), Words("levels 0 and 1")),
        "Transaction version 2 is not built for several brokers.",
    ),
)
