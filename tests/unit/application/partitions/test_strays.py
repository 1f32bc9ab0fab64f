from __future__ import annotations

from application.partitions.strays import stray_partitions
from infrastructure.storage.memory.state_store import MemoryStateStore
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker, with_topic


def strays(fake: FakeBroker) -> list[int]:
    topics = StoredTopicRepository(fake.log, MemoryStateStore(fake.store))
    return stray_partitions(fake.log, topics, fake.broker.catalog)


def test_data_without_a_topic_is_listed_and_stays() -> None:
    fake = with_topic()
    fake.appended(record_batch(["a"]))
    assert strays(fake) == []
    fake.log.append(4711, 0, bytes(record_batch(["b"])))
    fake.broker.commits.when_committed(lambda failure: None)
    fake.run()
    assert strays(fake) == [4711]
    assert fake.log.read(4711, 0, 1, 0, True) != b""


def test_data_that_is_being_deleted_is_not_listed() -> None:
    fake = FakeBroker()
    topic = fake.topic()
    fake.appended(record_batch(["a"]))
    fake.broker.topics.delete_topics.delete([topic])
    fake.run()
    assert topic.partition_ids[0] in fake.log.partition_ids()
    assert strays(fake) == []
