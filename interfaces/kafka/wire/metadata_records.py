"""Records of __cluster_metadata, the log of Kafka's controllers (KRaft), up to Kafka 4.2.

A record is a frame version, the type and its version as varints without a sign, and the message.
Of types that say nothing about data the fields are not declared.
"""

from __future__ import annotations

from interfaces.kafka.wire.fields import (
    array,
    boolean,
    float64,
    int8,
    int16,
    int32,
    int64,
    octets,
    string,
    uuid,
)
from interfaces.kafka.wire.primitives import Buffer, MalformedRequest, read_uvarint, write_uvarint
from interfaces.kafka.wire.schema import Message
from interfaces.kafka.wire.structs import Struct

FRAME_VERSION = 1


class TopicRecord(Message, key=2, versions="0", flexible="0+"):
    name: str = string()
    topic_id: bytes = uuid()


class PartitionRecord(Message, key=3, versions="0-2", flexible="0+"):
    partition_id: int = int32(default=-1)
    topic_id: bytes = uuid()
    replicas: list[int] = array(int32)
    isr: list[int] = array(int32)
    removing_replicas: list[int] = array(int32)
    adding_replicas: list[int] = array(int32)
    leader: int = int32(default=-1)
    leader_recovery_state: int = int8(tag=0)
    leader_epoch: int = int32(default=-1)
    partition_epoch: int = int32(default=-1)
    directories: list[bytes] = array(uuid, "1+")
    eligible_leader_replicas: list[int] | None = array(
        int32, "2+", nullable="2+", tag=1, default=None
    )
    last_known_elr: list[int] | None = array(int32, "2+", nullable="2+", tag=2, default=None)


class ConfigRecord(Message, key=4, versions="0", flexible="0+"):
    resource_type: int = int8()
    resource_name: str = string()
    name: str = string()
    value: str | None = string(nullable="0+")


class PartitionChangeRecord(Message, key=5, versions="0-2", flexible="0+"):
    partition_id: int = int32(default=-1)
    topic_id: bytes = uuid()
    isr: list[int] | None = array(int32, nullable="0+", tag=0, default=None)
    leader: int = int32(tag=1, default=-2)
    replicas: list[int] | None = array(int32, nullable="0+", tag=2, default=None)
    removing_replicas: list[int] | None = array(int32, nullable="0+", tag=3, default=None)
    adding_replicas: list[int] | None = array(int32, nullable="0+", tag=4, default=None)
    leader_recovery_state: int = int8(tag=5, default=-1)
    eligible_leader_replicas: list[int] | None = array(
        int32, "2+", nullable="2+", tag=6, default=None
    )
    last_known_elr: list[int] | None = array(int32, "2+", nullable="2+", tag=7, default=None)
    directories: list[bytes] | None = array(uuid, "1+", nullable="1+", tag=8, default=None)


class RemoveTopicRecord(Message, key=9, versions="0", flexible="0+"):
    topic_id: bytes = uuid()


class DelegationTokenRecord(Message, key=10, versions="0", flexible="0+"):
    owner: str = string()
    requester: str = string()
    renewers: list[str] = array(string)
    issue_timestamp: int = int64()
    max_timestamp: int = int64()
    expiration_timestamp: int = int64()
    token_id: str = string()


class UserScramCredentialRecord(Message, key=11, versions="0", flexible="0+"):
    name: str = string()
    mechanism: int = int8()
    salt: bytes = octets()
    stored_key: bytes = octets()
    server_key: bytes = octets()
    iterations: int = int32()


class FeatureLevelRecord(Message, key=12, versions="0", flexible="0+"):
    name: str = string()
    feature_level: int = int16()


class QuotaEntityData(Struct):
    entity_type: str = string()
    entity_name: str | None = string(nullable="0+")


class ClientQuotaRecord(Message, key=14, versions="0", flexible="0+"):
    entity: list[QuotaEntityData] = array(QuotaEntityData)
    key: str = string()
    value: float = float64()
    remove: bool = boolean()


class ProducerIdsRecord(Message, key=15, versions="0", flexible="0+"):
    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)
    next_producer_id: int = int64()


class AccessControlEntryRecord(Message, key=18, versions="0", flexible="0+"):
    id: bytes = uuid()
    resource_type: int = int8()
    resource_name: str = string()
    pattern_type: int = int8()
    principal: str = string()
    host: str = string()
    operation: int = int8()
    permission_type: int = int8()


class RemoveAccessControlEntryRecord(Message, key=19, versions="0", flexible="0+"):
    id: bytes = uuid()


class RemoveUserScramCredentialRecord(Message, key=22, versions="0", flexible="0+"):
    name: str = string()
    mechanism: int = int8()


class BeginTransactionRecord(Message, key=23, versions="0", flexible="0+"):
    name: str | None = string(nullable="0+", tag=0, default=None)


class EndTransactionRecord(Message, key=24, versions="0", flexible="0+"):
    pass


class AbortTransactionRecord(Message, key=25, versions="0", flexible="0+"):
    reason: str | None = string(nullable="0+", tag=0, default=None)


class RemoveDelegationTokenRecord(Message, key=26, versions="0", flexible="0+"):
    token_id: str = string()


RECORDS: dict[int, type[Message]] = {
    record.api_key: record
    for record in (
        TopicRecord,
        PartitionRecord,
        ConfigRecord,
        PartitionChangeRecord,
        RemoveTopicRecord,
        DelegationTokenRecord,
        UserScramCredentialRecord,
        FeatureLevelRecord,
        ClientQuotaRecord,
        ProducerIdsRecord,
        AccessControlEntryRecord,
        RemoveAccessControlEntryRecord,
        RemoveUserScramCredentialRecord,
        BeginTransactionRecord,
        EndTransactionRecord,
        AbortTransactionRecord,
        RemoveDelegationTokenRecord,
    )
}
#: About brokers and controllers, whose registrations end with them; nothing about data.
WITHOUT_EFFECT = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    17: "BrokerRegistrationChangeRecord",
    20: "NoOpRecord",
    21: "ZkMigrationStateRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
}


def decode_metadata_record(value: Buffer) -> Message | None:
    """None: of a type without effect. Raises MalformedRequest, also at unknown types."""
    try:
        frame, pos = read_uvarint(value, 0)
        kind, pos = read_uvarint(value, pos)
        version, pos = read_uvarint(value, pos)
    except IndexError:
        raise MalformedRequest("the bytes end inside a frame") from None
    if frame != FRAME_VERSION:
        raise MalformedRequest(f"frame version {frame}")
    if kind in WITHOUT_EFFECT:
        return None
    record = RECORDS.get(kind)
    if record is None or version > record.max_version:
        name = f"type {kind}" if record is None else record.__name__
        raise MalformedRequest(f"{name} in version {version} is not known")
    found, end = record.decode(version, value, pos)
    if end != len(value):
        raise MalformedRequest(f"{len(value) - end} bytes follow {record.__name__}")
    return found


def metadata_value(record: Message, version: int = 0) -> bytes:
    """The value of the Kafka record that has this record."""
    numbers = (FRAME_VERSION, record.api_key, version)
    return b"".join((*map(write_uvarint, numbers), *record.encode(version)))
