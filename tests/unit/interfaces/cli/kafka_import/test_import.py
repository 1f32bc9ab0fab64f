"""The whole command, on the folder of a real Kafka."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from domain.configs.resource import ALL_BROKERS, Resource, ResourceKind
from domain.configs.topic import TopicConfig
from domain.partitions.partition import Partition
from domain.security.acl import PatternType, Permission
from domain.security.quota import QuotaEntity
from domain.topics.topic import Topic
from domain.transactions.states import State
from infrastructure.kafka_folder.checkpoints import properties
from infrastructure.opening import Contents, contents, open_storage
from infrastructure.security.password_hashing import is_password_of_any
from interfaces.cli.storage.info import offsets_of
from interfaces.main.__main__ import main
from tests.e2e.kafka_folder.filling import ALL_TOPICS, PASSWORD
from tests.unit.interfaces.cli.kafka_import.conftest import Import
from tests.unit.interfaces.cli.kafka_import.stored import rows

Captured = pytest.CaptureFixture[str]


def partition_of(found: Contents, topics: dict[str, Topic], name: str, number: int) -> Partition:
    partition = Partition(topics[name].partition_ids[number], name, number, TopicConfig())
    found.partitions.recover(partition)
    return partition


def test_everything_is_in_the_store(original: Path, run: Import, store: Path) -> None:
    assert run(original) == 0
    storage = open_storage(f"lmdb://{store}", read_only=True)
    with closing(storage.commit):
        found = contents(storage)
        topics = {topic.name: topic for topic in found.topics.load()}
        assert {n: (len(t.partition_ids), dict(t.configs)) for n, t in topics.items()} == {
            **ALL_TOPICS,
            "empty": (3, {"retention.bytes": "12345"}),
        }
        trimmed = partition_of(found, topics, "trimmed", 0)
        assert (trimmed.log_start_offset, trimmed.end.next_offset) == (10, 18)
        assert trimmed.leader_epochs.starts() == [(0, 10)]
        states = {
            one.producer_id: one.newest for one in found.partitions.producers(trimmed.partition_id)
        }
        assert sorted(states.values()) == [(0, 5, 5), (0, 11, 17)]
        compacted = partition_of(found, topics, "compacted", 0)
        assert compacted.segment.base_offset == compacted.cleaned.next_offset == 36
        opened = partition_of(found, topics, "transactions", 1)
        assert (opened.last_stable_offset, opened.end.next_offset) == (8, 11)
        aborted = list(found.transaction_index.since(opened.partition_id, 0))
        assert [one[1:] for one in aborted] == [(4, 7, 8)]
        by_id = {one.transactional_id: one for one in found.transactions.load()}
        assert {name: one.state for name, one in by_id.items()} == {
            "oracle": State.EMPTY,
            "commits": State.COMPLETE_COMMIT,
            "aborts": State.COMPLETE_ABORT,
            "stays-open": State.ONGOING,
            "version-2-v0-ends": State.COMPLETE_COMMIT,
            "version-2-v0-opens": State.ONGOING,
        }
        ends = by_id["version-2-v0-ends"]
        assert (ends.epoch, ends.version) == (3, 2)
        assert by_id["stays-open"].partitions == {("transactions", 1)}
        assert by_id["stays-open"].groups == {"copiers"}
        [(producer_id, pending)] = found.pending_offsets.load()
        assert producer_id == by_id["stays-open"].producer_id
        assert (pending[0], pending[3].offset) == ("copiers", 33)
        offsets = {row[:3]: (row[3].offset, row[3].metadata) for row in offsets_of(found)}
        assert offsets["simple-group", "segments", 1][0] == 2
        assert offsets["copiers", "segments", 0] == (2, "")
        assert {change.group_id for change in found.groups.load()} == {
            "classic-group",
            "consumer-group",
        }
        for name in ("ann", "bea"):
            credentials = found.users.load()[name]
            assert len(credentials) == 2
            assert is_password_of_any(PASSWORD, list(credentials.values()))
        acls = {(one.resource_name, one.pattern_type, one.permission) for one in found.acls.load()}
        assert ("seg", PatternType.PREFIXED, Permission.ALLOW) in acls
        assert ("codecs", PatternType.LITERAL, Permission.DENY) in acls
        assert found.quotas.load() == {
            QuotaEntity("bea"): {"producer_byte_rate": 50_000_000.0},
            QuotaEntity("", "app"): {"consumer_byte_rate": 60_000_000.0},
            QuotaEntity(None, None, "10.1.2.3"): {"connection_creation_rate": 9.0},
        }
        assert found.configs.load() == {
            ALL_BROKERS: {"log.retention.ms": "604800001", "min.insync.replicas": "1"},
            Resource(ResourceKind.BROKER, "1"): {"max.connections": "500"},
            Resource(ResourceKind.GROUP, "consumer-group"): {
                "consumer.session.timeout.ms": "50000"
            },
        }
        assert found.cluster.next_producer_id() == 1000
        meta = properties(original / "meta.properties")
        assert found.cluster.cluster_id() == meta["cluster.id"]
        assert storage.info.losses == 2


def test_the_store_is_whole(original: Path, run: Import, store: Path, capsys: Captured) -> None:
    assert run(original) == 0
    capsys.readouterr()
    assert main(["storage", "verify", str(store), "-o", "json"]) == 0
    assert {one["level"] for one in json.loads(capsys.readouterr().out)} == {"ok", "note"}


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    original: Path, run: Import, store: Path, capsys: Captured
) -> None:
    assert run(original, "--dry-run", "-o", "json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["topics"], plan["partitions"], plan["records"]) == (8, 16, 309)
    assert plan["bytes"] == sum(one["bytes"] for one in plan["topic_details"])
    assert plan["group_ids"] == ["classic-group", "consumer-group", "copiers", "simple-group"]
    assert (plan["user_names"], plan["acls"], plan["quotas"]) == (["ann", "bea"], 5, 3)
    assert (plan["open_transactions"], plan["skipped"]) == (2, [])
    assert not store.exists()


def test_a_second_import_is_refused(
    original: Path, run: Import, store: Path, capsys: Captured
) -> None:
    assert run(original) == 0
    before = rows(store)
    assert run(original) == 1
    assert "the store has a topic codecs already" in capsys.readouterr().err
    assert rows(store) == before


def test_other_topics_of_the_store_stay(original: Path, run: Import, store: Path) -> None:
    storage = open_storage(f"lmdb://{store}")
    with closing(storage.commit):
        found = contents(storage)
        ids = found.topics.reserve_partition_ids(2)
        found.topics.save(Topic("mine", b"m" * 16, ids, {}))
        found.cluster.name_cluster("mine")
        found.cluster.reserve_producer_ids(5000)
        storage.commit.commit(lambda failure: None)
    assert run(original) == 0
    storage = open_storage(f"lmdb://{store}", read_only=True)
    with closing(storage.commit):
        found = contents(storage)
        topics = {topic.name: topic for topic in found.topics.load()}
        assert topics.keys() == {"mine", *ALL_TOPICS}
        used = [one for topic in topics.values() for one in topic.partition_ids]
        assert len(set(used)) == len(used) == 18
        assert found.cluster.next_producer_id() == 5000
        assert found.cluster.cluster_id() == "mine"


def test_what_the_store_has_stays_and_is_named(
    original: Path, run: Import, store: Path, capsys: Captured
) -> None:
    storage = open_storage(f"lmdb://{store}")
    with closing(storage.commit):
        found = contents(storage)
        found.quotas.save(QuotaEntity("bea"), {"producer_byte_rate": 1.0})
        configs = {"log.retention.ms": "604800001", "min.insync.replicas": "1"}
        found.configs.save(ALL_BROKERS, configs)
        storage.commit.commit(lambda failure: None)
    assert run(original) == 1
    errors = capsys.readouterr().err
    assert "quota of ClientQuotaEntity(entries={user=bea}): the store has its own" in errors
    assert "cannot import everything (1, see above); --skip-unsupported" in errors
    assert run(original, "--skip-unsupported") == 0
    storage = open_storage(f"lmdb://{store}", read_only=True)
    with closing(storage.commit):
        quotas = contents(storage).quotas.load()
        assert quotas[QuotaEntity("bea")] == {"producer_byte_rate": 1.0}
        assert len(quotas) == 3


def test_a_transactional_id_of_the_store_is_refused(
    original: Path, run: Import, store: Path, capsys: Captured
) -> None:
    from domain.transactions.transaction import Transaction

    storage = open_storage(f"lmdb://{store}")
    with closing(storage.commit):
        contents(storage).transactions.save("commits", Transaction("commits", 1, 1, 1))
        storage.commit.commit(lambda failure: None)
    assert run(original) == 1
    assert "the store has a transactional id commits" in capsys.readouterr().err


def test_a_store_in_use_is_refused(
    original: Path, run: Import, store: Path, capsys: Captured
) -> None:
    storage = open_storage(f"lmdb://{store}")
    with closing(storage.commit):
        assert run(original) == 1
    assert "is in use by process" in capsys.readouterr().err


def test_the_store_is_that_of_ottla_serve(
    original: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTTLA_STORAGE", f"lmdb://{store}")
    assert main(["import", "kafka", str(original)]) == 0
    assert (store / "data.mdb").exists()


@pytest.mark.parametrize("url, code", [("memory://", 1), ("s3://x", 2)])
def test_a_store_without_a_folder_is_refused(
    original: Path, run: Import, url: str, code: int, capsys: Captured
) -> None:
    assert run(original, "--storage", url) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_the_folder_of_kafka_is_no_store(folder: Path, capsys: Captured) -> None:
    assert main(["import", "kafka", str(folder), "--data", str(folder)]) == 1
    assert "choose a new one" in capsys.readouterr().err
