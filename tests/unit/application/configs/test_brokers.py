"""Every dynamic setting with an effect applies while the broker runs."""

from __future__ import annotations

import pytest

from application.configs.alter import RequestedConfigs
from application.ports.pending import Pending
from domain.configs.alteration import Alteration, Operation
from domain.configs.broker import BrokerConfig
from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.settings.definition import Effect
from domain.errors import InvalidRecord, InvalidTimestamp, MessageTooLarge
from domain.messages.batch import RecordBatch
from domain.partitions.appended import Appended
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.memory.store import MemoryStore
from infrastructure.storage.repositories.config_repository import StoredConfigRepository
from interfaces.kafka.wire.messages.describe_cluster import DescribeClusterRequest
from interfaces.kafka.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.fakes.batches import GZIP, LZ4, ZSTD, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.client import FakeKafka
from tests.fakes.compaction import FakeWorker
from tests.fakes.config_requests import BROKER, SET, change
from tests.fakes.requests import metadata
from tests.unit.application.partitions.test_compaction import (
    append,
    compact,
    compacting,
    passes,
    with_worker,
)

INVALID_REQUEST = 42

#: Tested below; a new one belongs here with its test.
TESTED = {
    "advertised.listeners",
    "message.max.bytes",
    "log.cleanup.policy",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "log.retention.bytes",
    "log.retention.ms",
    "log.message.timestamp.type",
    "log.message.timestamp.before.max.ms",
    "log.message.timestamp.after.max.ms",
    "producer.id.expiration.ms",
    "max.connections",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
    "max.connection.creation.rate",
    "log.cleaner.backoff.ms",
    "log.cleaner.delete.retention.ms",
    "log.cleaner.max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio",
    "log.cleaner.min.compaction.lag.ms",
    "log.roll.ms",
    "log.segment.bytes",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.max.bytes.per.second",
    "min.insync.replicas",
}


def set_for_all(fake: FakeBroker, name: str, text: str) -> None:
    request = RequestedConfigs(ALL_BROKERS, [Alteration(name, Operation.SET, text)])
    pending = fake.broker.configs.alter_configs.alter([request], validate_only=False)
    assert isinstance(pending, Pending)
    fake.run()


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(producer_id_expiration_check_interval_ms="100")
    fake.topic("t")
    return fake


def test_every_dynamic_setting_with_an_effect_has_its_test_here() -> None:
    dynamic = {
        name
        for name, row in BrokerConfig.definitions.items()
        if row.dynamic and row.effect is Effect.BUILT
    }
    assert dynamic == TESTED


def test_message_max_bytes_applies_to_topics_without_their_own(fake: FakeBroker) -> None:
    fake.topic("own", max_message_bytes="1000000")
    fake.appended(record_batch(["x" * 500]))
    set_for_all(fake, "message.max.bytes", "200")
    assert isinstance(fake.append(record_batch(["x" * 500])), MessageTooLarge)
    assert isinstance(fake.append(record_batch(["x" * 500]), "own"), Appended)


def test_a_cleanup_policy_applies_to_the_next_batch(fake: FakeBroker) -> None:
    fake.appended(record_batch(["v"]))
    set_for_all(fake, "log.cleanup.policy", "compact")
    assert isinstance(fake.append(record_batch(["v"])), InvalidRecord)


@pytest.mark.parametrize("name, codec", [("gzip", GZIP), ("lz4", LZ4), ("zstd", ZSTD)])
def test_a_compression_applies_to_the_next_batch(fake: FakeBroker, name: str, codec: int) -> None:
    batch = record_batch([b"%d" % (n * n) for n in range(500)])
    sizes = [fake.appended(batch) and len(fake.stored())]
    set_for_all(fake, "compression.type", name)
    for level in ("1", "8"):
        set_for_all(fake, f"compression.{name}.level", level)
        fake.appended(batch)
        sizes.append(len(fake.stored()) - sum(sizes))
    assert sizes == sorted(set(sizes), reverse=True)
    assert RecordBatch(memoryview(fake.stored()[sizes[0] :])).codec == codec


@pytest.mark.parametrize("name", ["log.retention.ms", "log.retention.bytes"])
def test_a_limit_of_retention_applies_with_the_next_check(fake: FakeBroker, name: str) -> None:
    fake.broker.start_upkeep()
    fake.appended(record_batch(["a"]))
    set_for_all(fake, name, "0")
    fake.scheduler.advance(fake.config.log_retention_check_interval_ms)
    assert fake.partition().log_start_offset == 1


@pytest.mark.parametrize(
    "name, attribute",
    [
        ("log.cleaner.delete.retention.ms", "delete_retention_ms"),
        ("log.cleaner.max.compaction.lag.ms", "max_compaction_lag_ms"),
        ("log.cleaner.min.cleanable.ratio", "min_cleanable_ratio"),
        ("log.cleaner.min.compaction.lag.ms", "min_compaction_lag_ms"),
        ("log.roll.ms", "largest_segment_ms"),
    ],
)
def test_a_default_of_compaction_applies_to_partitions_in_use(
    fake: FakeBroker, name: str, attribute: str
) -> None:
    partition = fake.partition()
    set_for_all(fake, name, "1")
    assert getattr(partition.config, attribute) == 1


def test_min_insync_replicas_apply_to_partitions_in_use(fake: FakeBroker) -> None:
    partition = fake.partition()
    set_for_all(fake, "min.insync.replicas", "2")
    assert partition.config.min_insync_replicas == 2


def test_the_size_of_segments_applies_to_the_next_batch(fake: FakeBroker) -> None:
    fake.appended(record_batch(["x" * 1_048_480]))
    fake.appended(record_batch(["a"]))
    assert fake.partition().segment.base_offset == 0
    set_for_all(fake, "log.segment.bytes", str(1 << 20))
    fake.appended(record_batch(["a"]))
    assert fake.partition().segment.base_offset == 2


@pytest.mark.parametrize(
    "name, text, job",
    [
        ("log.cleaner.dedupe.buffer.size", "2000000", (1800000, 524288, 1.7976931348623157e308)),
        ("log.cleaner.io.buffer.load.factor", "0.5", (1 << 26, 524288, 1.7976931348623157e308)),
        ("log.cleaner.io.buffer.size", "70", (120795955, 70, 1.7976931348623157e308)),
        ("log.cleaner.io.max.bytes.per.second", "5.5", (120795955, 524288, 5.5)),
    ],
)
def test_limits_of_compaction_apply_to_the_next_pass(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, job: tuple[int, int, float]
) -> None:
    worker = FakeWorker()
    fake = with_worker(worker, monkeypatch)
    set_for_all(fake, name, text)
    compact(fake)
    [one] = worker.jobs
    assert (one.plan.map_bytes, one.read_bytes, one.max_bytes_per_second) == job


def test_the_backoff_of_compaction_applies_after_the_next_look() -> None:
    fake = compacting()
    set_for_all(fake, "log.cleaner.backoff.ms", "100")
    compact(fake)
    append(fake, *"aab")
    fake.scheduler.advance(200)
    assert passes(fake) == [(0, 1)]


def test_the_threads_of_the_log_cleaner_can_be_altered_as_in_kafka() -> None:
    client = FakeKafka().client()
    assert change(client, BROKER, "", ("log.cleaner.threads", SET, "2")) == (0, "")
    code, _ = change(client, BROKER, "", ("log.cleaner.threads", SET, "0"))
    assert code == INVALID_REQUEST


def test_a_timestamp_type_applies_to_the_next_batch(fake: FakeBroker) -> None:
    assert fake.appended(record_batch(["a"])).log_append_time == -1
    set_for_all(fake, "log.message.timestamp.type", "LogAppendTime")
    assert fake.appended(record_batch(["a"])).log_append_time == fake.clock.now_ms()


def test_bounds_of_timestamps_apply_to_the_next_batch(fake: FakeBroker) -> None:
    now = fake.clock.now_ms()
    early, late = record_batch(["a"], timestamp=now - 5000), record_batch(["a"], timestamp=now + 50)
    fake.appended(early)
    fake.appended(late)
    set_for_all(fake, "log.message.timestamp.before.max.ms", "1000")
    set_for_all(fake, "log.message.timestamp.after.max.ms", "10")
    assert isinstance(fake.append(early), InvalidTimestamp)
    assert isinstance(fake.append(late), InvalidTimestamp)


def test_the_expiration_of_producers_applies_at_once(fake: FakeBroker) -> None:
    fake.broker.start_upkeep()
    now = fake.clock.now_ms()
    fake.appended(record_batch(["a"], producer_id=7, epoch=0, sequence=0, timestamp=now))
    set_for_all(fake, "producer.id.expiration.ms", "1000")
    fake.scheduler.advance(1200)
    assert len(fake.partition().producers) == 0


def test_limits_of_connections_apply_at_once() -> None:
    kafka = FakeKafka()
    first = kafka.client()
    set_for_all(kafka, "max.connections.per.ip", "1")
    assert kafka.client().closed
    assert not first.closed
    set_for_all(kafka, "max.connections", "1")
    assert kafka.client("192.0.2.8").closed
    set_for_all(kafka, "max.connections", "2")
    assert not kafka.client("192.0.2.8").closed


def test_overrides_of_addresses_apply_at_once() -> None:
    kafka = FakeKafka(max_connections_per_ip="1")
    first = kafka.client()
    name = "max.connections.per.ip.overrides"
    set_for_all(kafka, name, "192.0.2.7:2, [2001:db8:0::1]:0")
    assert not kafka.client().closed and kafka.client().closed
    assert kafka.client("2001:db8::1").closed
    assert not kafka.client("192.0.2.8").closed and kafka.client("192.0.2.8").closed
    code, message = change(first, BROKER, "", (name, SET, "localhost:1"))
    assert code == INVALID_REQUEST and "ADDRESS:NUMBER" in message


def test_the_rate_of_new_connections_applies_at_once() -> None:
    kafka = FakeKafka()
    set_for_all(kafka, "max.connection.creation.rate", "1")
    clients = [kafka.client() for _ in range(12)]
    assert [one.transport.reading for one in clients] == [True] * 10 + [False] * 2
    set_for_all(kafka, "max.connection.creation.rate", "1000")
    assert kafka.client().transport.reading


def test_advertised_listeners_apply_to_open_connections() -> None:
    kafka = FakeKafka()
    client = kafka.client()

    def addresses() -> set[tuple[str, int]]:
        [in_metadata] = client.request(metadata(), 12).brokers
        [in_cluster] = client.request(DescribeClusterRequest(), 0).brokers
        found = FindCoordinatorRequest(key="g", key_type=0)
        return {(one.host, one.port) for one in (in_metadata, in_cluster, client.request(found, 0))}

    assert addresses() == {("192.0.2.1", 9092)}
    name = "advertised.listeners"
    assert change(client, BROKER, "1", (name, SET, "PLAINTEXT://docker.example:32768")) == (0, "")
    assert addresses() == {("docker.example", 32768)}
    assert change(client, BROKER, "1", (name, SET, "")) == (0, "")
    assert addresses() == {("192.0.2.1", 9092)}


def test_advertised_listeners_are_of_one_broker() -> None:
    client = FakeKafka().client()
    code, message = change(client, BROKER, "", ("advertised.listeners", SET, "PLAINTEXT://h:1"))
    assert code == INVALID_REQUEST
    assert "broker id must be specified: Set(advertised.listeners)" in message


@pytest.mark.parametrize(
    "text", ["PLAINTEXT://host", "PLAINTEXT://0.0.0.0:1", "OTHER://host:1", "a:1,b:2"]
)
def test_invalid_advertised_listeners_are_refused(text: str) -> None:
    """As other values of broker configs: topics have INVALID_CONFIG."""
    client = FakeKafka().client()
    code, message = change(client, BROKER, "1", ("advertised.listeners", SET, text))
    assert code == INVALID_REQUEST
    assert message.startswith(f"Invalid value {text} for configuration advertised.listeners: ")


def test_configs_of_this_broker_override_those_of_all_brokers() -> None:
    store = MemoryStore()
    repository = StoredConfigRepository(MemoryStateStore(store))
    repository.save(ALL_BROKERS, {"message.max.bytes": "1", "log.retention.ms": "2"})
    repository.save(Resource(ResourceKind.BROKER, "1"), {"message.max.bytes": "3"})
    repository.save(Resource(ResourceKind.BROKER, "7"), {"message.max.bytes": "4"})
    store.keep()
    config = FakeBroker(store).config
    assert (config.message_max_bytes, config.log_retention_ms) == (3, 2)


def test_unusable_configs_of_another_version_are_logged_at_the_start() -> None:
    store = MemoryStore()
    repository = StoredConfigRepository(MemoryStateStore(store))
    unusable = {
        "of.tomorrow": "1",
        "num.partitions": "9",
        "log.retention.ms": "soon",
        "advertised.listeners": "PLAINTEXT://host:1",
    }
    repository.save(ALL_BROKERS, {**unusable, "message.max.bytes": "3"})
    repository.save(Resource(ResourceKind.BROKER, "1"), {"advertised.listeners": "GONE://h:1"})
    store.keep()
    fake = FakeBroker(store)
    assert fake.config.dynamic_default == {"message.max.bytes": "3"}
    lines = fake.events.of("config_unused")
    assert [str(line["error"]).split(":")[0] for line in lines] == [
        "Unknown broker config name",
        "Cannot update these configs dynamically",
        "Invalid value soon for configuration log.retention.ms",
        "Cannot update these configs at default cluster level, broker id must be specified",
        "Invalid value GONE",
    ]
