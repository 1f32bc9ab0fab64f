"""Altered configs apply with their commit, and each change builds on the one before."""

from __future__ import annotations

import pytest

from application.configs.alter import Altered, RequestedConfigs
from application.ports.pending import later
from application.ports.request_log import NO_CLIENT
from application.topics.partitions import MorePartitions
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.errors import BrokerError, InvalidConfig, MessageTooLarge, StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic

TOPIC = Resource(ResourceKind.TOPIC, "t")
THIS_BROKER = Resource(ResourceKind.BROKER, "1")
GROUP = Resource(ResourceKind.GROUP, "g")
SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


@pytest.fixture
def fake() -> FakeBroker:
    return with_topic(2)


def sets(resource: Resource, **configs: str) -> RequestedConfigs:
    return RequestedConfigs(
        resource,
        [Alteration(key.replace("_", "."), Operation.SET, text) for key, text in configs.items()],
    )


Results = list[list[Altered]]


def begin(fake: FakeBroker, *requests: RequestedConfigs, only: bool = False) -> Results:
    """Filled when the results are there."""
    results: Results = []
    later(fake.broker.configs.alter_configs.alter(requests, only)).then(results.append)
    return results


def alter(fake: FakeBroker, *requests: RequestedConfigs, only: bool = False) -> list[Altered]:
    results = begin(fake, *requests, only=only)
    fake.run()
    return results[0]


def session_timeout_ms(fake: FakeBroker) -> int:
    return fake.broker.groups.configs.of("g").consumer_session_timeout_ms


def test_a_change_applies_with_its_commit(fake: FakeBroker) -> None:
    fake.partition()
    fake.commit.hold()
    results = begin(fake, sets(TOPIC, max_message_bytes="50"), sets(THIS_BROKER, num="1"))
    fake.run()
    assert results == []
    assert fake.partition().config.max_message_bytes == 1048588
    fake.commit.let_go()
    [[altered, refused]] = results
    assert altered is None and isinstance(refused, InvalidConfig)
    assert fake.partition().config.max_message_bytes == 50
    assert fake.existing().configs == {"max.message.bytes": "50"}


def test_a_change_applies_to_loaded_partitions_and_to_others(fake: FakeBroker) -> None:
    used = fake.partition(index=0)
    alter(fake, sets(TOPIC, max_message_bytes="50"))
    for index in (0, 1):
        outcome = fake.append(record_batch(["x" * 100]), index=index)
        assert isinstance(outcome, MessageTooLarge)
    assert fake.partition(index=0) is used
    assert fake.partition(index=1).config is used.config


def test_a_failed_commit_alters_nothing(fake: FakeBroker) -> None:
    requests = [
        sets(TOPIC, max_message_bytes="50"),
        sets(THIS_BROKER, message_max_bytes="60"),
        sets(ALL_BROKERS, log_cleanup_policy="compact"),
        sets(GROUP, consumer_session_timeout_ms="50000"),
    ]
    fake.commit.fail_next()
    results = alter(fake, *requests)
    assert [type(one) for one in results] == [StorageFailed] * 4
    assert fake.partition().config.max_message_bytes == 1048588
    assert not fake.partition().config.compacted
    assert fake.existing().configs == {}
    assert session_timeout_ms(fake) == 45000

    assert alter(fake, *requests) == [None] * 4
    assert fake.partition().config.max_message_bytes == 50
    assert session_timeout_ms(fake) == 50000


def test_altered_configs_survive_a_restart(fake: FakeBroker) -> None:
    fake.topic("u")
    results = alter(
        fake,
        sets(TOPIC, message_timestamp_type="LogAppendTime"),
        sets(THIS_BROKER, message_max_bytes="60"),
        sets(ALL_BROKERS, message_max_bytes="70", log_cleanup_policy="compact"),
        sets(GROUP, consumer_session_timeout_ms="50000"),
    )
    assert results == [None] * 4

    again = fake.restarted()
    assert again.partition("t").config.log_append_time
    assert again.partition("u").config.max_message_bytes == 60
    assert again.partition("u").config.compacted
    assert again.config.message_max_bytes == 60
    assert session_timeout_ms(again) == 50000


@pytest.mark.parametrize(
    ("resource", "first", "second"),
    [
        (TOPIC, "max.message.bytes", "retention.ms"),
        (THIS_BROKER, "message.max.bytes", "log.retention.ms"),
        (ALL_BROKERS, "message.max.bytes", "log.retention.ms"),
    ],
)
def test_two_changes_of_one_resource_in_one_pass_both_apply(
    fake: FakeBroker, resource: Resource, first: str, second: str
) -> None:
    results = [begin(fake, sets(resource, **{name: "50"})) for name in (first, second)]
    fake.run()
    assert results == [[[None]], [[None]]]
    for broker in (fake, fake.restarted()):
        if resource is TOPIC:
            assert broker.existing().configs == {first: "50", second: "50"}
        else:
            assert (broker.config.message_max_bytes, broker.config.log_retention_ms) == (50, 50)


def test_a_change_that_builds_on_a_failed_one_fails_too(fake: FakeBroker) -> None:
    heartbeat = sets(GROUP, consumer_heartbeat_interval_ms="6000")
    fake.commit.hold()
    first = begin(fake, sets(GROUP, consumer_session_timeout_ms="50000"))
    fake.run()
    second = begin(fake, heartbeat)
    fake.commit.let_fail()
    fake.run()
    for [[result]] in (first, second):
        assert isinstance(result, StorageFailed)
    assert fake.broker.groups.configs.overrides("g") == {}
    assert alter(fake, heartbeat) == [None]
    assert fake.broker.groups.configs.overrides("g") == {HEARTBEAT: "6000"}


def test_a_topic_can_grow_and_be_altered_in_one_pass(fake: FakeBroker) -> None:
    fake.broker.topics.create_partitions.grow([MorePartitions("t", 5, None)], False)
    assert alter(fake, sets(TOPIC, max_message_bytes="50")) == [None]
    assert len(fake.existing().partition_ids) == 5
    assert fake.partition(index=4).config.max_message_bytes == 50


def test_a_topic_that_is_being_deleted_does_not_exist(fake: FakeBroker) -> None:
    fake.broker.topics.delete_topics.delete([fake.existing()])
    [error] = alter(fake, sets(TOPIC, max_message_bytes="50"))
    assert isinstance(error, BrokerError) and "does not exist" in error.message
    assert fake.broker.catalog.topic("t") is None


def test_validate_only_persists_nothing(fake: FakeBroker) -> None:
    commits = fake.commit.count
    requests = sets(TOPIC, max_message_bytes="50"), sets(GROUP, nope="1")
    valid, invalid = alter(fake, *requests, only=True)
    assert valid is None and isinstance(invalid, InvalidConfig)
    assert fake.existing().configs == {}
    assert fake.commit.count == commits


def test_a_change_without_effect_needs_no_commit(fake: FakeBroker) -> None:
    unchanged = sets(TOPIC, max_message_bytes="50")
    alter(fake, unchanged)
    commits = fake.commit.count
    assert alter(fake, unchanged) == [None]
    assert fake.commit.count == commits
    fake.commit.fail_next()
    first, second = alter(fake, unchanged, sets(THIS_BROKER, message_max_bytes="60"))
    assert first is None and isinstance(second, StorageFailed)


LATER = "consumer.setting.of.a.later.version"


def written_by_another_version(fake: FakeBroker) -> FakeBroker:
    fake.changes.check()
    fake.core.configs.save(GROUP, {SESSION: "50000", HEARTBEAT: "soon", LATER: "1"})
    fake.core.configs.save(THIS_BROKER, {"message.max.bytes": "99", LATER: "1"})
    fake.store.keep()
    return fake.restarted()


def stored(fake: FakeBroker, resource: Resource) -> dict[str, str]:
    found: dict[str, str] = fake.core.configs.load().get(resource, {})
    return found


def test_unknown_configs_stay_in_the_store(fake: FakeBroker) -> None:
    fake = written_by_another_version(fake)
    known = RequestedConfigs(GROUP, [Alteration(SESSION, Operation.SET, "46000")])
    assert alter(fake, known, sets(THIS_BROKER, message_max_bytes="98")) == [None, None]
    assert stored(fake, GROUP) == {SESSION: "46000", HEARTBEAT: "soon", LATER: "1"}
    assert stored(fake, THIS_BROKER) == {"message.max.bytes": "98", LATER: "1"}


def test_an_unusable_config_can_be_set_or_deleted(fake: FakeBroker) -> None:
    fake = written_by_another_version(fake)
    deletion = Alteration(LATER, Operation.DELETE, "")
    better = Alteration(HEARTBEAT, Operation.SET, "7000")
    assert alter(fake, RequestedConfigs(GROUP, [deletion, better])) == [None]
    assert stored(fake, GROUP) == {SESSION: "50000", HEARTBEAT: "7000"}
    assert fake.broker.groups.configs.of("g").consumer_heartbeat_interval_ms == 7000
    assert alter(fake, RequestedConfigs(THIS_BROKER, [deletion])) == [None]
    assert stored(fake, THIS_BROKER) == {"message.max.bytes": "99"}


def test_a_replacement_removes_unknown_configs_too(fake: FakeBroker) -> None:
    fake = written_by_another_version(fake)
    assert alter(fake, RequestedConfigs(GROUP, [], replaces=True)) == [None]
    assert stored(fake, GROUP) == {}


def test_the_log_has_the_names_of_altered_configs_and_no_values(fake: FakeBroker) -> None:
    requests = sets(TOPIC, retention_ms="4711"), sets(GROUP, **{SESSION: "46000"})
    fake.commit.fail_next()
    alter(fake, *requests)
    begin(fake, *requests)
    assert fake.events.of("configs_altered") == []
    fake.run()
    assert fake.events.of("configs_altered") == [
        {"resource": "topic", "name": "t", "configs": ["retention.ms"], **NO_CLIENT.fields()},
        {"resource": "group", "name": "g", "configs": [SESSION], **NO_CLIENT.fields()},
    ]


@pytest.mark.parametrize("only", [False, True])
def test_each_resource_whose_configs_have_no_effect_has_one_warning(
    fake: FakeBroker, only: bool
) -> None:
    alter(
        fake,
        sets(TOPIC, preallocate="true", flush_messages="5", max_message_bytes="50"),
        sets(ALL_BROKERS, log_preallocate="true"),
        sets(THIS_BROKER, message_max_bytes="60"),
        only=only,
    )
    assert fake.events.of("config_without_effect") == [
        {"resource": "topic", "name": "t", "configs": ["flush.messages", "preallocate"]},
        {"resource": "broker", "name": "", "configs": ["log.preallocate"]},
    ]


def test_a_refused_change_has_no_warning(fake: FakeBroker) -> None:
    alter(fake, sets(TOPIC, preallocate="true", max_message_bytes="many"))
    assert fake.events.of("config_without_effect") == []
