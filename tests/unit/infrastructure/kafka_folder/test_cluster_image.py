from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.kafka_folder.cluster_image import BROKER, TOPIC, ClusterImage, read_cluster
from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from interfaces.kafka.wire.metadata_records import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    PartitionChangeRecord,
    PartitionRecord,
    QuotaEntityData,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
    decode_metadata_record,
    metadata_value,
)
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Message
from tests.fakes.batches import record_batch
from tests.fakes.kafka_folder import append_records

ID, OTHER = b"i" * 16, b"o" * 16


def image(*records: Message) -> ClusterImage:
    found = ClusterImage()
    for record in records:
        found.replay(record)
    return found


def topic(name: str = "t", topic_id: bytes = ID) -> tuple[Message, Message]:
    partition = PartitionRecord(partition_id=0, topic_id=topic_id, replicas=[1], leader_epoch=0)
    return TopicRecord(name, topic_id), partition


def test_a_deleted_topic_leaves_nothing() -> None:
    config = ConfigRecord(TOPIC, "t", "retention.ms", "5")
    found = image(*topic(), config, RemoveTopicRecord(ID))
    assert (found.topics, found.configs) == ({}, {})


def test_the_leader_epoch_rises_with_each_leader() -> None:
    change = PartitionChangeRecord(partition_id=0, topic_id=ID, leader=-1)
    other = PartitionChangeRecord(partition_id=0, topic_id=ID, isr=[1])
    moved = PartitionChangeRecord(partition_id=0, topic_id=ID, replicas=[1, 2], leader=2)
    found = image(*topic(), change, other, moved).topics[ID].partitions[0]
    assert (found.leader_epoch, found.replicas) == (2, [1, 2])


@pytest.mark.parametrize(
    "record",
    [
        PartitionRecord(partition_id=0, topic_id=OTHER),
        PartitionChangeRecord(partition_id=0, topic_id=OTHER),
        PartitionChangeRecord(partition_id=1, topic_id=ID),
        RemoveTopicRecord(OTHER),
    ],
)
def test_records_of_unknown_topics_are_refused(record: Message) -> None:
    with pytest.raises(MalformedRequest):
        image(*topic(), record)


def test_configs_are_set_and_removed() -> None:
    one, other = ConfigRecord(BROKER, "", "a", "1"), ConfigRecord(BROKER, "", "b", "2")
    assert image(one, other).configs == {(BROKER, ""): {"a": "1", "b": "2"}}
    gone = [ConfigRecord(BROKER, "", name, None) for name in "ab"]
    assert image(one, other, *gone).configs == {}


def test_users_acls_quotas_and_tokens_are_removed() -> None:
    quota = ClientQuotaRecord([QuotaEntityData("user", "ann")], "producer_byte_rate", 5.0)
    gone = ClientQuotaRecord([QuotaEntityData("user", "ann")], "producer_byte_rate", 0.0, True)
    found = image(
        *(UserScramCredentialRecord("ann", 1), RemoveUserScramCredentialRecord("ann", 1)),
        *(AccessControlEntryRecord(ID), RemoveAccessControlEntryRecord(ID)),
        *(quota, gone),
        *(DelegationTokenRecord(token_id="x"), RemoveDelegationTokenRecord("x")),
    )
    assert (found.credentials, found.acls, found.quotas, found.tokens) == ({}, {}, {}, {})
    assert image(quota).quotas == {(("user", "ann"),): {"producer_byte_rate": 5.0}}


def test_a_metadata_transaction_counts_when_it_ends() -> None:
    begun = image(BeginTransactionRecord(), *topic())
    assert begun.topics == {}
    begun.replay(EndTransactionRecord())
    assert list(begun.topics) == [ID]
    aborted = image(BeginTransactionRecord(), *topic(), AbortTransactionRecord())
    assert aborted.topics == {}
    aborted.replay(TopicRecord("u", OTHER))
    assert list(aborted.topics) == [OTHER]


# ---- the log of a folder


def test_the_metadata_of_kafka(original: Path) -> None:
    with KafkaFolder(original) as folder:
        found = read_cluster(folder)
    names = {one.name: len(one.partitions) for one in found.topics.values()}
    assert names["codecs"] == 5 and "deleted" not in names
    assert found.configs[TOPIC, "empty"] == {"retention.bytes": "12345"}
    assert {name for name, _ in found.credentials} == {"ann", "bea"}
    assert found.next_producer_id == 1000
    assert found.features["metadata.version"] == 29


def metadata_log(folder: Path) -> Path:
    return folder / "__cluster_metadata-0" / f"{0:020}.log"


def append(folder: Path, *records: bytes, offset: int | None = None) -> None:
    append_records(folder, METADATA_TOPIC, *records, offset=offset)


def test_records_at_the_end_count(folder: Path) -> None:
    append(folder, metadata_value(TopicRecord("late", ID)))
    with KafkaFolder(folder) as opened:
        assert read_cluster(opened).topics[ID].name == "late"


def test_a_snapshot_replaces_the_records_before_it(folder: Path) -> None:
    begins_at = 200
    at = folder / "__cluster_metadata-0"
    late = metadata_value(TopicRecord("late", ID))
    (at / f"{begins_at:020}-{2:010}.checkpoint").write_bytes(record_batch([late], base_offset=0))
    metadata_log(folder).rename(at / f"{begins_at:020}.log")
    (at / f"{begins_at:020}.log").write_bytes(
        record_batch([metadata_value(TopicRecord("later", OTHER))], base_offset=begins_at)
    )
    with KafkaFolder(folder) as opened:
        assert [one.name for one in read_cluster(opened).topics.values()] == ["late", "later"]
    (at / f"{begins_at:020}-{2:010}.checkpoint").unlink()
    with KafkaFolder(folder) as opened, pytest.raises(FolderRefused, match="has no snapshot"):
        read_cluster(opened)


def test_a_gap_is_refused(folder: Path) -> None:
    append(folder, metadata_value(TopicRecord("late", ID)), offset=900)
    with KafkaFolder(folder) as opened, pytest.raises(FolderRefused, match="are missing"):
        read_cluster(opened)


@pytest.mark.parametrize(
    "record", [b"\x01\x63\x00", b"\x02\x02\x00", b"", b"\x01\x09\x00" + OTHER + b"\0"]
)
def test_an_unknown_record_is_refused_in_one_line(folder: Path, record: bytes) -> None:
    append(folder, record)
    with KafkaFolder(folder) as opened, pytest.raises(FolderRefused) as refused:
        read_cluster(opened)
    assert f"{metadata_log(folder)}, offset " in str(refused.value)


def test_a_log_that_lost_its_end_is_refused(folder: Path) -> None:
    log = metadata_log(folder)
    with KafkaFolder(folder) as opened:
        *_, (_, last) = opened.log(("__cluster_metadata", 0)).batches()
    log.write_bytes(log.read_bytes()[: -last.size_bytes])
    with KafkaFolder(folder) as opened, pytest.raises(FolderRefused, match="cut off"):
        read_cluster(opened)


def test_metadata_values_are_decoded() -> None:
    record = TopicRecord("t", ID)
    assert decode_metadata_record(metadata_value(record)) == record
