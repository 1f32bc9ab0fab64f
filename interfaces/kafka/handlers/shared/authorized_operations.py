"""What a client is told it may do. Without an authorizer that is everything: a bit an operation."""

from __future__ import annotations

TOPIC_OPERATIONS = sum(1 << operation for operation in (3, 4, 5, 6, 7, 8, 10, 11))
CLUSTER_OPERATIONS = sum(1 << operation for operation in (5, 7, 8, 9, 10, 11, 12))
GROUP_OPERATIONS = sum(1 << operation for operation in (3, 6, 8, 10, 11))
NOT_ASKED_FOR = -(2**31)


def topic_operations(asked_for: bool) -> int:
    return TOPIC_OPERATIONS if asked_for else NOT_ASKED_FOR


def cluster_operations(asked_for: bool) -> int:
    return CLUSTER_OPERATIONS if asked_for else NOT_ASKED_FOR


def group_operations(asked_for: bool) -> int:
    return GROUP_OPERATIONS if asked_for else NOT_ASKED_FOR
