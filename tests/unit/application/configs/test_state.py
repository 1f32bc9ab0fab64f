"""Configs of brokers and groups that another broker has altered."""

from __future__ import annotations

import pytest

from application.configs.alter import RequestedConfigs
from application.ports.log_store import NotInMemory
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from tests.fakes.broker import FakeBroker
from tests.fakes.following_brokers import FollowingBrokers

GROUP = Resource(ResourceKind.GROUP, "g")
SESSION = "consumer.session.timeout.ms"


@pytest.fixture
def two() -> FollowingBrokers:
    return FollowingBrokers()


def alter(
    fake: FakeBroker, resource: Resource, name: str, value: str | None, only: bool = False
) -> None:
    operation = Operation.DELETE if value is None else Operation.SET
    requested = RequestedConfigs(resource, [Alteration(name, operation, value or "")])
    fake.broker.configs.alter_configs.alter([requested], only)


def session_timeout_ms(fake: FakeBroker) -> int:
    return fake.broker.groups.configs.of("g").consumer_session_timeout_ms


def test_a_config_of_all_brokers_applies_to_each(two: FollowingBrokers) -> None:
    topic = two.first.topic()
    two.run()
    for value, size in (("50", 50), (None, 1048588)):
        alter(two.first, ALL_BROKERS, "message.max.bytes", value)
        two.run()
        catalog = two.second.broker.catalog
        assert catalog.config(two.second.existing(topic.name)).max_message_bytes == size
        assert two.second.config.message_max_bytes == size
    assert two.second.events.of("configs_altered") == []


def test_a_config_of_another_broker_has_no_effect_here(two: FollowingBrokers) -> None:
    revision = two.second.config.revision
    alter(two.first, Resource(ResourceKind.BROKER, "1"), "message.max.bytes", "50")
    two.run()
    assert two.first.config.message_max_bytes == 50
    assert (two.second.config.message_max_bytes, two.second.config.revision) == (1048588, revision)


def test_a_config_of_a_group_is_followed(two: FollowingBrokers) -> None:
    for value, timeout_ms in (("50000", 50000), (None, 45000)):
        alter(two.first, GROUP, SESSION, value)
        two.run()
        assert session_timeout_ms(two.second) == timeout_ms
    assert two.second.broker.groups.configs.names() == []


def test_what_another_version_has_set_stays_unused(two: FollowingBrokers) -> None:
    two.first.changes.check()
    for resource in (GROUP, ALL_BROKERS):
        two.first.core.configs.save(resource, {"of.a.later.version": "1"})
    two.first.core.commits.when_committed(lambda _: None)
    two.run()
    assert two.second.broker.groups.configs.unused("g") == {"of.a.later.version": "1"}
    assert len(two.second.events.of("config_unused")) == 2
    alter(two.second, ALL_BROKERS, "message.max.bytes", "50")
    two.run()
    stored = two.first.core.configs.load()[ALL_BROKERS]
    assert stored == {"of.a.later.version": "1", "message.max.bytes": "50"}


def test_an_alteration_waits_for_the_right_and_a_validation_does_not(two: FollowingBrokers) -> None:
    fake = two.first
    fake.changes.withhold()
    alter(fake, GROUP, SESSION, "50000", only=True)
    with pytest.raises(NotInMemory):
        alter(fake, GROUP, SESSION, "50000")
    assert fake.store.staged == []
    fake.changes.give()
    alter(fake, GROUP, SESSION, "50000")
    fake.run()
    assert session_timeout_ms(fake) == 50000
