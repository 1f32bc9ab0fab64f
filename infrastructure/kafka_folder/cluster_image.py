"""ClusterImage: what the metadata log of Kafka's controllers says about the data of a cluster.

Records of a metadata transaction count when it ends (KIP-868).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from domain.errors import BrokerError
from domain.messages.batch import RecordBatch
from infrastructure.kafka_folder.folder import METADATA_TOPIC, KafkaFolder
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.kafka_folder.segment import batches, messages_of
from interfaces.kafka.wire.metadata_records import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
    decode_metadata_record,
)
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Message

#: Of configs, in Kafka's numbers.
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
_NO_LEADER_CHANGE = -2

#: Entity types with names; None is the default.
QuotaKey = tuple[tuple[str, str | None], ...]


class PartitionImage:
    __slots__ = ("leader_epoch", "replicas")

    def __init__(self, replicas: list[int], leader_epoch: int) -> None:
        self.replicas = replicas
        self.leader_epoch = leader_epoch


class TopicImage:
    __slots__ = ("name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: dict[int, PartitionImage] = {}


class ClusterImage:
    def __init__(self) -> None:
        self.topics: dict[bytes, TopicImage] = {}
        #: By type and name of the resource.
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.credentials: dict[tuple[str, int], UserScramCredentialRecord] = {}
        self.acls: dict[bytes, AccessControlEntryRecord] = {}
        self.quotas: dict[QuotaKey, dict[str, float]] = {}
        self.features: dict[str, int] = {}
        self.tokens: dict[str, DelegationTokenRecord] = {}
        self.next_producer_id = 0
        #: Of a transaction that has not ended; None: there is none.
        self._waiting: list[Message] | None = None

    def replay(self, record: Message) -> None:
        if isinstance(record, BeginTransactionRecord):
            self._waiting = []
        elif isinstance(record, AbortTransactionRecord):
            self._waiting = None
        elif isinstance(record, EndTransactionRecord):
            waiting, self._waiting = self._waiting or [], None
            for one in waiting:
                self.replay(one)
        elif self._waiting is not None:
            self._waiting.append(record)
        else:
            _REPLAY[type(record)](self, record)

    # ---- topics

    def _topic(self, record: TopicRecord) -> None:
        self.topics[record.topic_id] = TopicImage(record.name, record.topic_id)

    def _partition(self, record: PartitionRecord) -> None:
        image = PartitionImage(record.replicas, record.leader_epoch)
        self._of(record.topic_id).partitions[record.partition_id] = image

    def _partition_change(self, record: PartitionChangeRecord) -> None:
        image = self._of(record.topic_id).partitions.get(record.partition_id)
        if image is None:
            raise MalformedRequest("a change of an unknown partition")
        if record.replicas is not None:
            image.replicas = record.replicas
        if record.leader != _NO_LEADER_CHANGE:
            image.leader_epoch += 1

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic = self._of(record.topic_id)
        del self.topics[record.topic_id]
        self.configs.pop((TOPIC, topic.name), None)

    def _of(self, topic_id: bytes) -> TopicImage:
        topic = self.topics.get(topic_id)
        if topic is None:
            raise MalformedRequest("a record of an unknown topic")
        return topic

    # ---- the rest

    def _config(self, record: ConfigRecord) -> None:
        key = record.resource_type, record.resource_name
        configs = self.configs.setdefault(key, {})
        if record.value is None:
            configs.pop(record.name, None)
        else:
            configs[record.name] = record.value
        if not configs:
            del self.configs[key]

    def _credential(self, record: UserScramCredentialRecord) -> None:
        self.credentials[record.name, record.mechanism] = record

    def _remove_credential(self, record: RemoveUserScramCredentialRecord) -> None:
        self.credentials.pop((record.name, record.mechanism), None)

    def _acl(self, record: AccessControlEntryRecord) -> None:
        self.acls[record.id] = record

    def _remove_acl(self, record: RemoveAccessControlEntryRecord) -> None:
        self.acls.pop(record.id, None)

    def _quota(self, record: ClientQuotaRecord) -> None:
        key = tuple(sorted((one.entity_type, one.entity_name) for one in record.entity))
        quotas = self.quotas.setdefault(key, {})
        if record.remove:
            quotas.pop(record.key, None)
        else:
            quotas[record.key] = record.value
        if not quotas:
            del self.quotas[key]

    def _feature(self, record: FeatureLevelRecord) -> None:
        self.features[record.name] = record.feature_level

    def _producer_ids(self, record: ProducerIdsRecord) -> None:
        self.next_producer_id = record.next_producer_id

    def _token(self, record: DelegationTokenRecord) -> None:
        self.tokens[record.token_id] = record

    def _remove_token(self, record: RemoveDelegationTokenRecord) -> None:
        self.tokens.pop(record.token_id, None)


_REPLAY: dict[type[Message], Callable[[ClusterImage, Any], None]] = {
    TopicRecord: ClusterImage._topic,
    PartitionRecord: ClusterImage._partition,
    PartitionChangeRecord: ClusterImage._partition_change,
    RemoveTopicRecord: ClusterImage._remove_topic,
    ConfigRecord: ClusterImage._config,
    UserScramCredentialRecord: ClusterImage._credential,
    RemoveUserScramCredentialRecord: ClusterImage._remove_credential,
    AccessControlEntryRecord: ClusterImage._acl,
    RemoveAccessControlEntryRecord: ClusterImage._remove_acl,
    ClientQuotaRecord: ClusterImage._quota,
    FeatureLevelRecord: ClusterImage._feature,
    ProducerIdsRecord: ClusterImage._producer_ids,
    DelegationTokenRecord: ClusterImage._token,
    RemoveDelegationTokenRecord: ClusterImage._remove_token,
}


def read_cluster(folder: KafkaFolder) -> ClusterImage:
    """The newest snapshot, and the records after it. Raises FolderRefused."""
    image = ClusterImage()
    log = folder.log((METADATA_TOPIC, 0))
    snapshot = folder.metadata_snapshot()
    begins_at = 0
    if snapshot is not None:
        begins_at, path = snapshot
        for batch in batches(path, 0):
            _replay(image, batch, f"{path}")
    if log.start_offset > begins_at:
        raise FolderRefused(
            f"{log.folder} begins at offset {log.start_offset}, and has no snapshot of the "
            "records before"
        )
    next_offset = log.start_offset
    for segment, batch in log.batches():
        if batch.base_offset != next_offset:
            raise FolderRefused(
                f"{segment.path}: offsets {next_offset} to {batch.base_offset - 1} are missing"
            )
        next_offset = batch.last_offset + 1
        if batch.last_offset >= begins_at:
            _replay(image, batch, f"{segment.path}", begins_at)
    if next_offset < begins_at:
        raise FolderRefused(f"{log.folder} ends before its newest snapshot, at offset {begins_at}")
    folder.check_end((METADATA_TOPIC, 0), log, next_offset)
    return image


def _replay(image: ClusterImage, batch: RecordBatch, where: str, begins_at: int = 0) -> None:
    try:
        for one in messages_of(batch):
            if one.offset >= begins_at:
                record = decode_metadata_record(one.value or b"")
                if record is not None:
                    image.replay(record)
    except MalformedRequest as unknown:
        raise FolderRefused(f"{where}, offset {batch.base_offset}: {unknown}") from None
    except BrokerError as damage:
        raise FolderRefused(f"{where}, offset {batch.base_offset}: {damage.message}") from None
