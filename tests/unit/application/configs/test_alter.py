"""A change counts when its commit is done, all of it, and each builds on the one before."""

from __future__ import annotations

import pytest

from application.configs.alter import Altered, RequestedConfigs
from application.ports.pending import Pending
from application.ports.request_log import NO_CLIENT
from application.topics.partitions import MorePartitions
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.errors import BrokerError, InvalidConfig, MessageTooLarge, StorageFailed
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

TOPIC = Resource(ResourceKind.TOPIC, "t")
THIS_BROKER = Resource(ResourceKind.BROKER, "1")
GROUP = Resource(ResourceKind.GROUP, "g")
SESSION = "consumer.session.timeout.ms"


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker()
    fake.topic("t", 2)
    return fake


def sets(resource: Resource, **configs: str) -> RequestedConfigs:
    return RequestedConfigs(
        resource,
        [Alteration(key.replace("_", "."), Operation.SET, text) for key, text in configs.items()],
    )


class Asked:
    """An answer that may come later."""

    def __init__(self, fake: FakeBroker, *wanted: RequestedConfigs, only: bool = False) -> None:
        self.results: list[Altered] | None = None
        answer = fake.broker.configs.alter_configs.alter(wanted, only)
        if isinstance(answer, Pending):
            answer.then(self._resolved)
        else:
            self.results = answer

    def _resolved(self, results: list[Altered]) -> None:
        self.results = results


def alter(fake: FakeBroker, *wanted: RequestedConfigs) -> list[Altered]:
    asked = Asked(fake, *wanted)
    fake.run()
    assert asked.results is not None
    return asked.results


def test_a_change_counts_and_is_answered_when_its_commit_is_done(fake: FakeBroker) -> None:
    fake.partition()
    fake.commit.hold()
    asked = Asked(fake, sets(TOPIC, max_message_bytes="50"), sets(THIS_BROKER, num="1"))
    fake.run()
    assert asked.results is None
    assert fake.partition().config.max_message_bytes == 1048588

    fake.commit.let_go()
    assert asked.results is not None
    assert asked.results[0] is None
    assert isinstance(asked.results[1], InvalidConfig)
    assert fake.partition().config.max_message_bytes == 50
    assert fake.existing().configs == {"max.message.bytes": "50"}


def test_a_change_reaches_partitions_in_use_and_those_used_later(fake: FakeBroker) -> None:
    used = fake.partition(index=0)
    alter(fake, sets(TOPIC, max_message_bytes="50"))
    assert isinstance(fake.append(record_batch(["x" * 100]), index=0), MessageTooLarge)
    assert isinstance(fake.append(record_batch(["x" * 100]), index=1), MessageTooLarge)
    assert fake.partition(index=0) is used
    assert fake.partition(index=1).config is used.config


def test_a_failed_commit_changes_nothing(fake: FakeBroker) -> None:
    resources = {
        TOPIC: sets(TOPIC, max_message_bytes="50"),
        THIS_BROKER: sets(THIS_BROKER, message_max_bytes="60"),
        ALL_BROKERS: sets(ALL_BROKERS, log_cleanup_policy="compact"),
        GROUP: sets(GROUP, consumer_session_timeout_ms="50000"),
    }
    fake.commit.fail_next()
    results = alter(fake, *resources.values())
    assert [type(one) for one in results] == [StorageFailed] * 4
    assert fake.partition().config.max_message_bytes == 1048588
    assert not fake.partition().config.compacted
    assert fake.existing().configs == {}
    assert fake.broker.groups.configs.of("g").consumer_session_timeout_ms == 45000

    assert alter(fake, *resources.values()) == [None] * 4
    assert fake.partition().config.max_message_bytes == 50
    assert fake.broker.groups.configs.of("g").consumer_session_timeout_ms == 50000


def test_all_of_it_is_there_after_a_restart(fake: FakeBroker) -> None:
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
    assert again.broker.groups.configs.of("g").consumer_session_timeout_ms == 50000


def test_two_changes_of_one_topic_in_one_pass_both_count(fake: FakeBroker) -> None:
    first = Asked(fake, sets(TOPIC, max_message_bytes="50"))
    second = Asked(fake, sets(TOPIC, retention_ms="1000"))
    fake.run()
    assert (first.results, second.results) == ([None], [None])
    assert fake.existing().configs == {"max.message.bytes": "50", "retention.ms": "1000"}
    assert fake.restarted().existing().configs == fake.existing().configs


@pytest.mark.parametrize("resource", [THIS_BROKER, ALL_BROKERS])
def test_two_changes_of_a_broker_in_one_pass_both_count(
    fake: FakeBroker, resource: Resource
) -> None:
    first = Asked(fake, sets(resource, message_max_bytes="50"))
    second = Asked(fake, sets(resource, log_retention_ms="1000"))
    fake.run()
    assert (first.results, second.results) == ([None], [None])
    assert (fake.config.message_max_bytes, fake.config.log_retention_ms) == (50, 1000)
    assert fake.restarted().config.log_retention_ms == 1000


def test_a_change_that_builds_on_one_that_failed_fails_with_it(fake: FakeBroker) -> None:
    fake.commit.hold()
    first = Asked(fake, sets(GROUP, consumer_session_timeout_ms="50000"))
    fake.run()
    second = Asked(fake, sets(GROUP, consumer_heartbeat_interval_ms="6000"))
    fake.commit.let_fail()
    fake.run()
    for asked in (first, second):
        assert asked.results is not None and isinstance(asked.results[0], StorageFailed)
    assert fake.broker.groups.configs.overrides("g") == {}
    third = Asked(fake, sets(GROUP, consumer_heartbeat_interval_ms="6000"))
    fake.run()
    assert third.results == [None]
    overrides = fake.broker.groups.configs.overrides("g")
    assert overrides == {"consumer.heartbeat.interval.ms": "6000"}


def test_a_topic_may_grow_and_be_configured_in_one_pass(fake: FakeBroker) -> None:
    fake.broker.topics.create_partitions.grow([MorePartitions("t", 5, None)], False)
    asked = Asked(fake, sets(TOPIC, max_message_bytes="50"))
    fake.run()
    assert asked.results == [None]
    assert len(fake.existing().partition_ids) == 5
    assert fake.partition(index=4).config.max_message_bytes == 50


def test_a_topic_that_is_being_deleted_is_not_there_any_more(fake: FakeBroker) -> None:
    fake.broker.topics.delete_topics.delete([fake.existing()])
    asked = Asked(fake, sets(TOPIC, max_message_bytes="50"))
    fake.run()
    assert asked.results is not None
    [refused] = asked.results
    assert isinstance(refused, BrokerError)
    assert refused.message == "The topic 't' does not exist."
    assert fake.broker.catalog.topic("t") is None


def test_looking_only_keeps_nothing(fake: FakeBroker) -> None:
    commits = fake.commit.count
    asked = Asked(fake, sets(TOPIC, max_message_bytes="50"), sets(GROUP, nope="1"), only=True)
    fake.run()
    assert asked.results is not None
    assert asked.results[0] is None
    assert isinstance(asked.results[1], InvalidConfig)
    assert fake.existing().configs == {}
    assert fake.commit.count == commits


def test_what_stays_as_it_is_needs_no_commit(fake: FakeBroker) -> None:
    alter(fake, sets(TOPIC, max_message_bytes="50"))
    commits = fake.commit.count
    assert alter(fake, sets(TOPIC, max_message_bytes="50")) == [None]
    assert fake.commit.count == commits


def test_what_replaces_leaves_nothing_of_what_was_set(fake: FakeBroker) -> None:
    for resource in (TOPIC, GROUP, THIS_BROKER):
        name, values = {
            TOPIC: ("retention.ms", ("1", "2")),
            GROUP: (SESSION, ("50000", "51000")),
            THIS_BROKER: ("log.retention.ms", ("1", "2")),
        }[resource]
        for value in values:
            wanted = RequestedConfigs(resource, [Alteration(name, Operation.SET, value)], True)
            assert alter(fake, wanted) == [None]
        assert alter(fake, RequestedConfigs(resource, [], replaces=True)) == [None]
    assert fake.existing().configs == {}
    assert fake.broker.groups.configs.names() == []
    assert fake.config.log_retention_ms is None


def test_a_failed_commit_is_no_answer_where_nothing_was_to_change(fake: FakeBroker) -> None:
    alter(fake, sets(TOPIC, max_message_bytes="50"))
    fake.commit.fail_next()
    wanted = sets(TOPIC, max_message_bytes="50"), sets(THIS_BROKER, message_max_bytes="60")
    unchanged, changed = alter(fake, *wanted)
    assert unchanged is None
    assert isinstance(changed, StorageFailed)


# ---- what another version has kept


HEARTBEAT = "consumer.heartbeat.interval.ms"
LATER = "consumer.setting.of.a.later.version"


def kept_by_another_version(fake: FakeBroker) -> FakeBroker:
    fake.core.configs.save(GROUP, {SESSION: "50000", HEARTBEAT: "soon", LATER: "1"})
    fake.core.configs.save(THIS_BROKER, {"message.max.bytes": "99", LATER: "1"})
    fake.store.keep()
    return fake.restarted()


def stored(fake: FakeBroker, resource: Resource) -> dict[str, str]:
    found: dict[str, str] = fake.core.configs.load().get(resource, {})
    return found


def test_what_is_not_known_stays_in_the_store_and_is_in_nobodys_way(fake: FakeBroker) -> None:
    fake = kept_by_another_version(fake)
    wanted = RequestedConfigs(GROUP, [Alteration(SESSION, Operation.SET, "46000")])
    assert alter(fake, wanted, sets(THIS_BROKER, message_max_bytes="98")) == [None, None]
    assert stored(fake, GROUP) == {SESSION: "46000", HEARTBEAT: "soon", LATER: "1"}
    assert stored(fake, THIS_BROKER) == {"message.max.bytes": "98", LATER: "1"}


def test_what_is_not_usable_goes_when_a_client_names_it(fake: FakeBroker) -> None:
    fake = kept_by_another_version(fake)
    deletion = Alteration(LATER, Operation.DELETE, "")
    better = Alteration(HEARTBEAT, Operation.SET, "7000")
    assert alter(fake, RequestedConfigs(GROUP, [deletion, better])) == [None]
    assert stored(fake, GROUP) == {SESSION: "50000", HEARTBEAT: "7000"}
    assert fake.broker.groups.configs.of("g").consumer_heartbeat_interval_ms == 7000
    assert alter(fake, RequestedConfigs(THIS_BROKER, [deletion])) == [None]
    assert stored(fake, THIS_BROKER) == {"message.max.bytes": "99"}


def test_nothing_else_is_set_after_all_was_replaced(fake: FakeBroker) -> None:
    fake = kept_by_another_version(fake)
    assert alter(fake, RequestedConfigs(GROUP, [], replaces=True)) == [None]
    assert stored(fake, GROUP) == {}


def test_the_log_says_what_changes_and_no_value(fake: FakeBroker) -> None:
    Asked(fake, sets(TOPIC, retention_ms="4711"), sets(GROUP, **{SESSION: "46000"}))
    assert fake.events.of("configs_altered") == []
    fake.run()
    assert fake.events.of("configs_altered") == [
        {"resource": "topic", "name": "t", "configs": ["retention.ms"], **NO_CLIENT.fields()},
        {"resource": "group", "name": "g", "configs": [SESSION], **NO_CLIENT.fields()},
    ]


def test_what_is_not_kept_is_no_change_in_the_log(fake: FakeBroker) -> None:
    fake.commit.fail_next()
    Asked(fake, sets(TOPIC, retention_ms="4711"))
    fake.run()
    assert fake.events.of("configs_altered") == []


# ---- configs without effect


@pytest.mark.parametrize("only", [False, True])
def test_each_resource_whose_configs_have_no_effect_has_one_warning(
    fake: FakeBroker, only: bool
) -> None:
    Asked(
        fake,
        sets(TOPIC, segment_ms="5", retention_ms="5", max_message_bytes="50"),
        sets(ALL_BROKERS, log_retention_ms="5"),
        sets(THIS_BROKER, message_max_bytes="60"),
        only=only,
    )
    fake.run()
    assert fake.events.of("config_without_effect") == [
        {"resource": "topic", "name": "t", "configs": ["retention.ms", "segment.ms"]},
        {"resource": "broker", "name": "", "configs": ["log.retention.ms"]},
    ]


def test_a_change_that_is_refused_has_no_warning(fake: FakeBroker) -> None:
    alter(fake, sets(TOPIC, retention_ms="5", max_message_bytes="many"))
    assert fake.events.of("config_without_effect") == []
