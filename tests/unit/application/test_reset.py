"""Reset deletes everything in one commit, and clients stay connected."""

from __future__ import annotations

import pytest

from application.ports.log_store import NotInMemory
from application.security.quotas import QuotaAlteration
from application.security.users import Upsertion
from domain.errors import CoordinatorLoadInProgress, InvalidProducerIdMapping, StorageFailed
from domain.groups.classic.group import ClassicGroup
from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal
from domain.security.scram import ScramMechanism
from domain.topics.topic import WRITTEN_TOPICS, Topic
from interfaces.kafka.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.classic_members import Member
from tests.fakes.classic_requests import heartbeat_request
from tests.fakes.client import FakeKafka
from tests.fakes.config_requests import BROKER, GROUP, SET, change
from tests.fakes.groups import persist_offsets
from tests.fakes.offsets_topic import Committed, Generation, records_of
from tests.fakes.requests import produce
from tests.fakes.results import error_codes, results_of
from tests.fakes.secured import SecuredKafka, allowed
from tests.fakes.structs import build
from tests.fakes.transactional_producer import TransactionalProducer

UNKNOWN_MEMBER_ID, UNKNOWN_TOPIC = 25, 3


@pytest.fixture
def kafka() -> FakeKafka:
    made = FakeKafka()
    made.topic("t", 2)
    return made


def reset(fake: FakeBroker) -> None:
    pending = fake.broker.reset.reset()
    fake.run()
    assert results_of(pending) == [None]


def rows_left(fake: FakeBroker) -> set[str]:
    """The tables that have rows, when background jobs are done."""
    fake.scheduler.advance(1000)
    assert fake.log.partition_ids() == []
    return {name for name, rows in fake.store.tables.items() if rows}


def test_topics_and_their_records_are_deleted(kafka: FakeKafka) -> None:
    topic_id = kafka.existing().topic_id
    kafka.appended(record_batch(["a"]))
    client = kafka.client()
    reset(kafka)
    assert error_codes(client.request(produce(), 9)) == {UNKNOWN_TOPIC}
    assert kafka.topic("t").topic_id != topic_id
    assert error_codes(client.request(produce(), 9)) == {0}
    assert kafka.partition().durable.next_offset == 1
    reset(kafka)
    assert rows_left(kafka) == {"cluster", "counters"}
    assert not client.closed


def test_transactions_are_forgotten_and_producers_start_again(kafka: FakeKafka) -> None:
    producer = TransactionalProducer(kafka)
    producer.init()
    producer.sent()
    reset(kafka)
    assert rows_left(kafka) == {"cluster", "counters"}
    kafka.topic("t", 2)
    producer.sequences.clear()
    assert isinstance(producer.send(), InvalidProducerIdMapping)
    assert producer.init() == (1, 0)
    producer.sent()
    producer.ended()
    assert kafka.partition().last_stable_offset == 2


def test_members_of_classic_groups_are_unknown_and_join_again(kafka: FakeKafka) -> None:
    member = Member(kafka)
    assert member.join().error_code == 0
    persist_offsets(kafka, "g", "t", 0)
    reset(kafka)
    assert not list(kafka.broker.groups.registry)
    heartbeat = heartbeat_request(member.generation_id, member.member_id)
    assert member.client.request(heartbeat, 4).error_code == UNKNOWN_MEMBER_ID
    member.member_id = ""
    assert member.join().error_code == 0


def test_a_member_that_waits_for_others_is_unknown_at_once(kafka: FakeKafka) -> None:
    first, second = Member(kafka), Member(kafka)
    first.join()
    second.begin_join()
    kafka.run()
    assert second.client.frames() == []
    reset(kafka)
    [response] = second.client.responses()
    assert response.error_code == UNKNOWN_MEMBER_ID


def test_members_of_consumer_groups_are_unknown(kafka: FakeKafka) -> None:
    fields = {"group_id": "g", "member_id": "m", "rebalance_timeout_ms": 10_000}
    joining = {"member_epoch": 0, "subscribed_topic_names": ["t"], "topic_partitions": []}
    client = kafka.client()
    joined = client.request(build(ConsumerGroupHeartbeatRequest, fields | joining), 1)
    assert joined.error_code == 0
    reset(kafka)
    beat = build(ConsumerGroupHeartbeatRequest, fields | {"member_epoch": joined.member_epoch})
    assert client.request(beat, 1).error_code == UNKNOWN_MEMBER_ID
    assert len(kafka.restarted().broker.groups.registry) == 0


def test_dynamic_configs_are_reset(kafka: FakeKafka) -> None:
    client = kafka.client()
    for kind, name, config, value in (
        (BROKER, "", "message.max.bytes", "1000"),
        (BROKER, "1", "message.max.bytes", "2000"),
        (BROKER, "1", "advertised.listeners", "PLAINTEXT://docker.example:32768"),
        (GROUP, "g", "consumer.session.timeout.ms", "50000"),
    ):
        assert change(client, kind, name, (config, SET, value)) == (0, "")
    default = FakeKafka().config.message_max_bytes
    assert kafka.config.message_max_bytes == 2000
    reset(kafka)
    assert kafka.config.message_max_bytes == default
    assert kafka.config.advertised("PLAINTEXT", 0) == ("docker.example", 32768)
    assert kafka.broker.groups.configs.names() == []
    again = kafka.restarted().config
    assert again.message_max_bytes == default
    assert again.advertised("PLAINTEXT", 0) == ("docker.example", 32768)


def test_acls_and_users_are_deleted_but_who_could_not_log_in_again() -> None:
    kafka = SecuredKafka(allowed(Operation.READ, ResourceType.TOPIC, "t"))
    users = kafka.broker.security.users
    for name in ("admin", "alice", "bob"):
        users.alter([], [Upsertion(name, ScramMechanism.SHA_256, 4096, b"salt", b"salted")])
    kafka.run()
    pending = kafka.broker.reset.reset(Principal("User", "bob"))
    kafka.run()
    assert results_of(pending) == [None]
    assert not kafka.broker.authorizer.allows(
        Principal("User", "alice"), "host", Operation.READ, ResourceType.TOPIC, "t"
    )
    assert "acls" not in rows_left(kafka)
    assert list(kafka.restarted().broker.security.users.describe(None)) == ["admin", "bob"]


def test_users_and_quotas_that_are_not_durable_yet_are_deleted(kafka: FakeKafka) -> None:
    users = kafka.broker.security.users
    users.alter([], [Upsertion("alice", ScramMechanism.SHA_256, 4096, b"salt", b"salted")])
    quota = QuotaAlteration({"user": "alice"}, [("producer_byte_rate", 1.0)])
    kafka.broker.quota_service.alter([quota], False)
    reset(kafka)
    assert users.describe(None) == {}
    assert kafka.broker.quotas.unlimited
    assert rows_left(kafka) == {"cluster", "counters"}


def test_everything_is_deleted_in_one_commit_or_nothing(kafka: FakeKafka) -> None:
    persist_offsets(kafka, "g", "t", 0)
    kafka.run()
    before = kafka.commit.count
    kafka.commit.fail_next()
    pending = kafka.broker.reset.reset()
    kafka.run()
    [failure] = results_of(pending)
    assert isinstance(failure, StorageFailed)
    assert kafka.commit.count == before + 1
    assert isinstance(kafka.broker.catalog.topic("t"), Topic)
    assert kafka.broker.groups.offsets.has("g", "t", 0)


def test_an_empty_broker_has_nothing_to_delete() -> None:
    fake = FakeBroker()
    before = fake.commit.count
    reset(fake)
    assert fake.commit.count == before


def test_a_broker_that_loads_its_offsets_refuses(kafka: FakeKafka) -> None:
    kafka.broker.groups.offsets.loaded = False
    with pytest.raises(CoordinatorLoadInProgress):
        kafka.broker.reset.reset()


def test_the_internal_topics_stay() -> None:
    fake = FakeBroker(offsets_topic="on", offsets_topic_num_partitions="1")
    fake.broker.start_upkeep()
    fake.topic("t")
    fake.scheduler.advance(100)
    fake.broker.groups.registry.put(ClassicGroup("g"))
    persist_offsets(fake, "g", "t", 0)
    fake.run()
    reset(fake)
    assert [topic.name for topic in fake.broker.catalog] == list(WRITTEN_TOPICS)
    assert {Committed("g", "t", 0, None), Generation("g", None)} <= set(records_of(fake))


def test_a_reset_waits_for_the_right(kafka: FakeKafka) -> None:
    persist_offsets(kafka, "g", "t", 0)
    kafka.run()
    kafka.changes.withhold()
    with pytest.raises(NotInMemory):
        kafka.broker.reset.reset()
    assert kafka.store.staged == [] and kafka.broker.groups.offsets.has("g", "t", 0)
    kafka.changes.give(callers=1)
    reset(kafka)
    assert kafka.broker.catalog.names() == []
