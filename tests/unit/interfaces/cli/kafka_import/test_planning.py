"""What cannot be imported is named, with the reason."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from domain.configs.resource import Resource, ResourceKind
from domain.groups.classic.changes import GroupMetadataChanged, Image
from domain.groups.classic.member import MemberImage
from domain.groups.classic.metadata_record import group_record
from domain.groups.offsets import CommittedOffset
from domain.groups.offsets_topic import offset_records
from domain.topics.topic import OFFSETS_TOPIC
from infrastructure.kafka_folder.cluster_image import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    read_cluster,
)
from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from interfaces.cli.kafka_import.checking import check_logs
from interfaces.cli.kafka_import.plan import Plan
from interfaces.cli.kafka_import.planning import make_plan
from interfaces.kafka.wire.metadata_records import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    QuotaEntityData,
    TopicRecord,
    UserScramCredentialRecord,
    metadata_value,
)
from interfaces.kafka.wire.schema import Message
from tests.fakes.kafka_folder import append_records

ID = b"i" * 16


def planned(folder: Path, *records: Message) -> Plan:
    if records:
        append_records(folder, METADATA_TOPIC, *map(metadata_value, records))
    with KafkaFolder(folder) as opened:
        return make_plan(opened)


def topic_id(folder: Path, name: str) -> bytes:
    with KafkaFolder(folder) as opened:
        return next(
            one.topic_id for one in read_cluster(opened).topics.values() if one.name == name
        )


def test_the_folder_of_kafka_has_nothing_that_cannot_be_imported(original: Path) -> None:
    plan = planned(original)
    assert plan.skipped == []
    assert [note.partition(".")[0] for note in plan.notes] == [
        "folder deleted-0",
        "folder deleted-1",
    ]


def test_each_snapshot_of_the_metadata_says_the_same_as_the_records_before(folder: Path) -> None:
    def content() -> tuple[object, ...]:
        plan = planned(folder)
        topics = [(one.name, one.topic_id, one.configs) for one in plan.topics]
        rights = (plan.users, plan.acls, plan.quotas, plan.configs)
        return (topics, *rights, plan.leader_epoch, plan.next_producer_id)

    expected = content()
    snapshots = sorted((folder / f"{METADATA_TOPIC}-0").glob("*.checkpoint"))
    assert len(snapshots) > 1
    while snapshots:
        snapshots.pop().unlink()
        assert content() == expected


@pytest.mark.parametrize(
    "record, what, why",
    [
        (
            ConfigRecord(TOPIC, "empty", "remote.storage.enable", "true"),
            "config remote.storage.enable of topic empty",
            "Tiered Storage functionality is disabled",
        ),
        (ConfigRecord(TOPIC, "empty", "future.config", "1"), "config future.config", "Unknown"),
        (ConfigRecord(BROKER, "", "future.setting", "1"), "broker (all)", "no such setting"),
        (ConfigRecord(BROKER, "1", "node.id", "1"), "config node.id of broker 1", "Cannot update"),
        (ConfigRecord(GROUP, "g", "share.session.timeout.ms", "50000"), "of group g", "not served"),
        (ConfigRecord(CLIENT_METRICS, "m", "interval.ms", "9"), "client metrics m", "not served"),
        (DelegationTokenRecord(token_id="x"), "1 delegation tokens", "not served"),
        (UserScramCredentialRecord("cy", 9), "credential of user cy", "mechanism 9"),
        (AccessControlEntryRecord(ID, 99, "r", 3, "User:x", "*", 3, 3), "ACL of User:x on r", "99"),
        (AccessControlEntryRecord(ID, 2, "r", 3, "x", "*", 3, 3), "ACL of x on r", "no colon"),
        (
            ClientQuotaRecord([QuotaEntityData("ip", "a.host")], "connection_creation_rate", 5.0),
            "quota of {'ip': 'a.host'}",
            "not a valid IP",
        ),
        (FeatureLevelRecord("transaction.version", 3), "transaction.version=3", "at most 2"),
    ],
)
def test_what_is_not_served_is_named(folder: Path, record: Message, what: str, why: str) -> None:
    [skipped] = planned(folder, record).skipped
    assert what in skipped.what
    assert why in skipped.why


def test_configs_that_conflict_are_named(folder: Path) -> None:
    [skipped] = planned(
        folder,
        ConfigRecord(TOPIC, "empty", "min.compaction.lag.ms", "20"),
        ConfigRecord(TOPIC, "empty", "max.compaction.lag.ms", "10"),
    ).skipped
    assert skipped.what == "configs of topic empty"


def test_groups_of_other_kinds_are_named(folder: Path) -> None:
    append_records(folder, OFFSETS_TOPIC, (b"\0\x0b\0\1s", b"\0\0"), (b"\0\x11\0\1x", b"\0\0"))
    plan = planned(folder)
    assert [one.what for one in plan.skipped] == ["share group s", "streams group x"]


def test_offsets_of_topics_that_do_not_exist_are_not_needed(folder: Path) -> None:
    committed = CommittedOffset(5, 0, "", 1, None, b"x" * 16)
    append_records(
        folder,
        OFFSETS_TOPIC,
        *offset_records("g", [("gone", 0, committed), ("empty", 0, committed)]),
    )
    plan = planned(folder)
    assert plan.notes[-2:] == [
        "1 committed offsets of topic empty, which is not imported",
        "1 committed offsets of topic gone, which is not imported",
    ]
    assert plan.skipped == []


def test_configs_of_another_node_id_are_noted(folder: Path) -> None:
    plan = planned(folder, ConfigRecord(BROKER, "7", "max.connections", "5"))
    assert plan.configs[Resource(ResourceKind.BROKER, "7")] == {"max.connections": "5"}
    assert "node.id=7 only" in plan.notes[-1]


def test_members_of_groups_are_gone_since_the_import(folder: Path) -> None:
    member = MemberImage("m", None, "c", "/h", 1, 1, (("range", b""),), b"")
    image = Image(4, "consumer", "range", "m", 7, (member,), True)
    append_records(folder, OFFSETS_TOPIC, group_record("busy", image))
    began_ms = time.time_ns() // 1_000_000
    [change] = [one for one in planned(folder).groups if one.group_id == "busy"]
    assert isinstance(change, GroupMetadataChanged)
    assert change.image is not None
    assert change.image[:4] == (4, "consumer", None, None)
    assert change.image.members == () and change.image.since_ms >= began_ms


def test_producer_ids_continue(folder: Path) -> None:
    record = ProducerIdsRecord(broker_id=1, broker_epoch=5, next_producer_id=7000)
    assert planned(folder, record).next_producer_id == 7000


def test_the_leader_epoch_is_above_that_of_every_partition(folder: Path) -> None:
    elected = PartitionChangeRecord(partition_id=0, topic_id=topic_id(folder, "empty"), leader=1)
    before = planned(folder).leader_epoch
    assert planned(folder, elected, elected).leader_epoch == before + 2


def test_an_older_feature_level_stays(folder: Path) -> None:
    plan = planned(
        folder, FeatureLevelRecord("transaction.version", 0), FeatureLevelRecord("group.version", 0)
    )
    assert plan.transaction_version == 0
    assert "feature group.version=0" in plan.notes[-1]


@pytest.mark.parametrize(
    "records, why",
    [
        (
            [TopicRecord("late", ID), PartitionRecord(partition_id=0, topic_id=ID, replicas=[1])],
            "is it in another of log.dirs",
        ),
        ([TopicRecord("late", ID)], "topic late has partitions"),
    ],
)
def test_a_topic_without_its_folders_is_refused(
    folder: Path, records: list[Message], why: str
) -> None:
    with pytest.raises(FolderRefused, match=why):
        planned(folder, *records)


def moved(folder: Path, topic: str, replicas: list[int]) -> PartitionChangeRecord:
    return PartitionChangeRecord(
        partition_id=0, topic_id=topic_id(folder, topic), replicas=replicas
    )


def test_a_topic_with_partitions_on_other_nodes_is_named(folder: Path) -> None:
    plan = planned(folder, moved(folder, "empty", [2, 3]), moved(folder, OFFSETS_TOPIC, [2]))
    assert "empty" not in {topic.name for topic in plan.topics}
    assert {one.what for one in plan.skipped} == {
        "folder empty-0",
        "partitions 0 of topic empty",
        "folder __consumer_offsets-0",
        "partitions 0 of topic __consumer_offsets",
    }


def test_a_replicated_log_is_read_if_all_replicas_have_it(folder: Path) -> None:
    plan = planned(folder, moved(folder, "stamped", [2, 1]))
    [one] = [one for one in plan.partitions() if one.topic == "stamped"]
    assert one.is_replicated and not plan.skipped
    with KafkaFolder(folder) as opened:
        check_logs(opened, plan, lambda size_bytes: None)


def test_a_log_whose_end_was_not_replicated_is_refused(folder: Path) -> None:
    path = folder / "replication-offset-checkpoint"
    path.write_text(re.sub(r"(?m)^stamped 0 \d+$", "stamped 0 1", path.read_text()))
    plan = planned(folder, moved(folder, "stamped", [2, 1]))
    with (
        KafkaFolder(folder) as opened,
        pytest.raises(FolderRefused, match="only those below 1 were on all replicas"),
    ):
        check_logs(opened, plan, lambda size_bytes: None)


def test_a_folder_of_another_topic_is_refused(folder: Path) -> None:
    (folder / "empty-0/partition.metadata").write_bytes(
        (folder / "codecs-0/partition.metadata").read_bytes()
    )
    with pytest.raises(FolderRefused, match="belongs to another topic of this name"):
        planned(folder)


@pytest.mark.parametrize(
    "key, value", [(b"\0\x7f\0\1g", b"\0\0"), (b"\0\1\0", b"\0\0"), (b"\0\2\0\1g", b"\0\x09")]
)
def test_unknown_records_of_groups_are_refused(folder: Path, key: bytes, value: bytes) -> None:
    append_records(folder, OFFSETS_TOPIC, (key, value))
    with pytest.raises(FolderRefused, match=r"__consumer_offsets-0/\d+\.log, offset \d+: "):
        planned(folder)


@pytest.mark.parametrize("value", [b"\0\x09", b"\0\1\0"])
def test_unknown_records_of_transactions_are_refused(folder: Path, value: bytes) -> None:
    append_records(folder, "__transaction_state", (b"\0\0\0\2tx", value))
    with pytest.raises(FolderRefused, match="__transaction_state-0"):
        planned(folder)


def test_a_transactional_id_that_was_removed_is_not_planned(folder: Path) -> None:
    append_records(folder, "__transaction_state", (b"\0\0\0\7commits", None))
    assert "commits" not in {one.transactional_id for one in planned(folder).transactions}
