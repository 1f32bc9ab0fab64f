"""Altered lists are those of Apache Kafka 4.2."""

from __future__ import annotations

import pytest

from domain.configs.alteration import Alteration, Operation, altered
from domain.configs.topic_table import TOPIC_CONFIGS

POLICY = "cleanup.policy"


def after(current: str | None, operation: Operation, text: str) -> str | None:
    configs = {} if current is None else {POLICY: current}
    return altered(configs, [Alteration(POLICY, operation, text)], TOPIC_CONFIGS).get(POLICY)


@pytest.mark.parametrize(
    "current, operation, text, expected",
    [
        (None, Operation.APPEND, "compact", "delete,compact"),
        ("delete", Operation.APPEND, "compact", "delete,compact"),
        ("", Operation.APPEND, "compact", "compact"),
        ("delete", Operation.APPEND, "delete", "delete"),
        ("delete", Operation.APPEND, "delete,compact,delete", "delete,compact"),
        ("delete", Operation.APPEND, " delete", "delete, delete"),
        ("delete", Operation.APPEND, "", "delete,"),
        ("delete", Operation.APPEND, ",", "delete"),
        ("delete", Operation.APPEND, "compact,,", "delete,compact"),
        (None, Operation.SUBTRACT, "delete", ""),
        ("delete,compact", Operation.SUBTRACT, "delete", "compact"),
        ("delete,compact", Operation.SUBTRACT, "nope", "delete,compact"),
        ("delete,compact", Operation.SUBTRACT, "compact,delete", ""),
        ("delete,compact", Operation.SET, "compact", "compact"),
        ("delete,compact", Operation.DELETE, "compact", None),
        (None, Operation.DELETE, "", None),
    ],
)
def test_an_operation_on_a_list(
    current: str | None, operation: Operation, text: str, expected: str | None
) -> None:
    assert after(current, operation, text) == expected


def test_other_configs_stay_and_the_argument_is_not_changed() -> None:
    current = {"retention.ms": "1", "segment.ms": "2"}
    changes = [
        Alteration("segment.ms", Operation.DELETE, ""),
        Alteration("flush.ms", Operation.SET, "3"),
    ]
    assert altered(current, changes, TOPIC_CONFIGS) == {"retention.ms": "1", "flush.ms": "3"}
    assert current == {"retention.ms": "1", "segment.ms": "2"}
