"""What becomes of lists is what Apache Kafka 4.2 made of them."""

from __future__ import annotations

import pytest

from domain.configs.alteration import Alteration, Operation, altered, altered_broker_configs
from domain.configs.topic_table import TOPIC_CONFIGS
from domain.errors import BrokerError, InvalidConfig, InvalidRequest

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


def test_what_is_not_named_stays_as_it_is_and_nothing_is_changed_in_place() -> None:
    current = {"retention.ms": "1", "segment.ms": "2"}
    changes = [
        Alteration("segment.ms", Operation.DELETE, ""),
        Alteration("flush.ms", Operation.SET, "3"),
    ]
    assert altered(current, changes, TOPIC_CONFIGS) == {"retention.ms": "1", "flush.ms": "3"}
    assert current == {"retention.ms": "1", "segment.ms": "2"}


@pytest.mark.parametrize("name", ["retention.ms", "no.such.config"])
@pytest.mark.parametrize("operation", [Operation.APPEND, Operation.SUBTRACT])
def test_only_lists_are_appended_to(name: str, operation: Operation) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        altered({}, [Alteration(name, operation, "1")], TOPIC_CONFIGS)
    words = f"Can't {operation.name} to key {name} because its type is not LIST."
    assert refusal.value.message == words


REFUSED: list[tuple[Alteration, type[BrokerError], str]] = [
    (
        Alteration("num.partitions", Operation.SET, "3"),
        InvalidRequest,
        "Cannot update these configs dynamically: Set(num.partitions)",
    ),
    (
        Alteration("log.retention.ms", Operation.SET, "x"),
        InvalidRequest,
        "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
    ),
    (
        Alteration("log.retention.ms", Operation.APPEND, "5"),
        InvalidConfig,
        "Config value append is not allowed for config key: log.retention.ms",
    ),
    (
        Alteration("no.such.config", Operation.SET, "5"),
        InvalidConfig,
        "Unknown broker config name: no.such.config",
    ),
]


@pytest.mark.parametrize("alteration, error, words", REFUSED)
def test_what_a_broker_refuses(
    alteration: Alteration, error: type[BrokerError], words: str
) -> None:
    with pytest.raises(error) as refusal:
        altered_broker_configs({}, [alteration])
    assert refusal.value.message == words


def test_all_that_cannot_change_while_the_broker_runs_is_named() -> None:
    names = ("num.partitions", "log.retention.ms", "node.id")
    with pytest.raises(InvalidRequest, match=r"Set\(node\.id, num\.partitions\)"):
        altered_broker_configs({}, [Alteration(name, Operation.SET, "3") for name in names])


def test_what_is_not_set_can_be_deleted_whatever_it_is() -> None:
    for name in ("num.partitions", "no.such.config", "log.retention.ms"):
        assert altered_broker_configs({}, [Alteration(name, Operation.DELETE, "")]) == {}
