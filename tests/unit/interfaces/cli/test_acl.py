from __future__ import annotations

import argparse
from typing import Any

import pytest

from interfaces.cli.acl import _filters, _rules, delete
from interfaces.cli.failures import UsageError
from interfaces.main.arguments import parser


def parsed(*words: str) -> argparse.Namespace:
    return parser().parse_args(["acl", *words])


def rules(*words: str) -> list[tuple[str, str, str]]:
    return [(*resource, operation) for resource, operation in _rules(parsed("add", "al", *words))]


def test_a_consumer_reads_topics_and_groups() -> None:
    assert rules("--consumer", "--topic", "orders", "--group", "billing") == [
        ("TOPIC", "orders", "read"),
        ("TOPIC", "orders", "describe"),
        ("GROUP", "billing", "read"),
    ]


def test_a_producer_writes_topics_and_transactional_ids() -> None:
    assert rules("--producer", "--topic", "orders", "--transactional-id", "copy") == [
        ("TOPIC", "orders", "write"),
        ("TOPIC", "orders", "describe"),
        ("TOPIC", "orders", "create"),
        ("TRANSACTIONAL_ID", "copy", "write"),
        ("TRANSACTIONAL_ID", "copy", "describe"),
    ]


def test_operations_are_for_each_resource() -> None:
    assert rules("--operation", "read,Delete", "--topic", "a", "--topic", "b", "--cluster") == [
        ("TOPIC", "a", "read"),
        ("TOPIC", "a", "delete"),
        ("TOPIC", "b", "read"),
        ("TOPIC", "b", "delete"),
        ("BROKER", "kafka-cluster", "read"),
        ("BROKER", "kafka-cluster", "delete"),
    ]


@pytest.mark.parametrize(
    "words, missing",
    [
        (["--topic", "orders"], "--operation is missing"),
        (["--operation", "read"], "a resource is missing"),
        (["--consumer", "--topic", "orders"], "--consumer needs"),
        (["--producer"], "--producer needs"),
    ],
)
def test_a_rule_without_resource_or_operation_is_refused(words: list[str], missing: str) -> None:
    with pytest.raises(UsageError, match=missing):
        rules(*words)


def filters(*words: str) -> list[tuple[Any, ...]]:
    return [
        (
            one.restype.name,
            one.name,
            one.resource_pattern_type.name,
            one.principal,
            one.host,
            one.operation.name,
            one.permission_type.name,
        )
        for one in _filters(parsed("list", *words))
    ]


def test_a_list_without_arguments_is_of_all_acls() -> None:
    assert filters() == [("ANY", None, "ANY", None, None, "ANY", "ANY")]


def test_a_filter_has_the_user_the_resource_and_the_rule() -> None:
    assert filters(
        *("alice", "--topic", "or", "--prefixed", "--operation", "read,write"),
        *("--deny", "--host", "10.0.0.1"),
    ) == [
        ("TOPIC", "or", "PREFIXED", "User:alice", "10.0.0.1", "READ", "DENY"),
        ("TOPIC", "or", "PREFIXED", "User:alice", "10.0.0.1", "WRITE", "DENY"),
    ]


def test_acls_are_not_deleted_without_a_filter() -> None:
    with pytest.raises(UsageError, match="a filter is missing"):
        delete(parsed("delete", "-y"))
