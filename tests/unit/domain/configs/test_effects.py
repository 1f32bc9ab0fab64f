from __future__ import annotations

import pytest

from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.effects import altered_without_effect, without_effect
from domain.configs.resource import ResourceKind
from domain.configs.topic_table import TOPIC_CONFIGS

TOPIC, BROKER, GROUP = ResourceKind.TOPIC, ResourceKind.BROKER, ResourceKind.GROUP


@pytest.mark.parametrize(
    "kind, name, text",
    [
        (TOPIC, "segment.jitter.ms", "1048576"),
        (TOPIC, "segment.index.bytes", "1"),  # of another broker: not allowed here
        (TOPIC, "unclean.leader.election.enable", "true"),
        (BROKER, "log.roll.jitter.hours", "1"),
    ],
)
def test_a_config_without_effect_is_found(kind: ResourceKind, name: str, text: str) -> None:
    assert [one.name for one in without_effect(kind, {name: text})] == [name]


@pytest.mark.parametrize(
    "kind, name, text",
    [
        (TOPIC, "max.message.bytes", "5000"),
        (GROUP, "consumer.session.timeout.ms", "50000"),
        (TOPIC, "retention.ms", "5000"),
        (BROKER, "log.retention.hours", "1"),
        (TOPIC, "cleanup.policy", "compact"),
        (TOPIC, "segment.jitter.ms", "0"),
        (BROKER, "log.index.interval.bytes", "4096"),
        (TOPIC, "preallocate", " false "),
        (TOPIC, "retention.ms", None),
        (TOPIC, "of.another.broker", "1"),
        (ResourceKind.BROKER_LOGGER, "any", "INFO"),
    ],
)
def test_configs_with_effect_and_defaults_are_not_found(
    kind: ResourceKind, name: str, text: str | None
) -> None:
    assert without_effect(kind, {name: text}) == []


def test_only_alterations_that_set_a_config_are_found() -> None:
    alterations = [
        Alteration("retention.ms", Operation.DELETE, "5"),
        Alteration("segment.jitter.ms", Operation.SET, "5"),
        Alteration("leader.replication.throttled.replicas", Operation.APPEND, "0:1,"),
        Alteration("leader.replication.throttled.replicas", Operation.SUBTRACT, "0:1"),
        Alteration("follower.replication.throttled.replicas", Operation.APPEND, ""),
    ]
    names = [one.name for one in altered_without_effect(TOPIC, alterations)]
    assert names == ["segment.jitter.ms", "leader.replication.throttled.replicas"]
    unknown = [Alteration("no.such", Operation.DELETE, "")]
    assert altered_without_effect(BROKER, unknown) == []


def test_a_topic_config_and_its_broker_default_have_the_same_effect() -> None:
    """`ottla topic create --dry-run` uses the settings of the broker: there is no topic yet."""
    for config in TOPIC_CONFIGS.values():
        for synonym in config.synonyms:
            assert BrokerConfig.definitions[synonym].effect is config.effect, synonym
