"""The metadata of a store as records of __cluster_metadata."""

from __future__ import annotations

import os
from collections.abc import Iterator

from domain.configs.resource import RESOURCE_NUMBERS, ResourceKind
from domain.security.acl import NUMBERS, AclBinding
from domain.topics.topic import Topic
from infrastructure.opening import Contents
from interfaces.cli.kafka_export.target import Target
from interfaces.kafka.wire.metadata_records import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    PartitionRecord,
    ProducerIdsRecord,
    QuotaEntityData,
    TopicRecord,
    UserScramCredentialRecord,
    metadata_value,
)

#: With directories, which Kafka 3.7 and later read.
_PARTITION_VERSION = 1


def topic_values(topic: Topic, epochs: list[int], target: Target) -> Iterator[bytes]:
    """`epochs`: the leader epoch of each partition."""
    yield metadata_value(TopicRecord(topic.name, topic.topic_id))
    for name, value in topic.configs.items():
        yield metadata_value(
            ConfigRecord(RESOURCE_NUMBERS[ResourceKind.TOPIC], topic.name, name, value)
        )
    for index, epoch in enumerate(epochs):
        record = PartitionRecord(
            partition_id=index,
            topic_id=topic.topic_id,
            replicas=[target.node_id],
            isr=[target.node_id],
            leader=target.node_id,
            leader_epoch=epoch,
            partition_epoch=0,
            directories=[target.directory_id],
        )
        yield metadata_value(record, _PARTITION_VERSION)


def other_values(found: Contents, target: Target) -> Iterator[bytes]:
    """Configs but those of topics, users, ACLs, quotas, and the next producer id."""
    for resource, configs in found.configs.load().items():
        for name, value in configs.items():
            kind = RESOURCE_NUMBERS[resource.kind]
            yield metadata_value(ConfigRecord(kind, resource.name, name, value))
    for user, credentials in found.users.load().items():
        for one in credentials.values():
            secrets = one.salt, one.stored_key, one.server_key
            mechanism = one.mechanism.value
            yield metadata_value(
                UserScramCredentialRecord(user, mechanism, *secrets, one.iterations)
            )
    for binding in found.acls.load():
        yield metadata_value(_acl(binding))
    for entity, quotas in found.quotas.load().items():
        parts = [QuotaEntityData(*part) for part in entity.parts()]
        for key, bound in quotas.items():
            yield metadata_value(ClientQuotaRecord(parts, key, bound))
    next_id = found.cluster.next_producer_id()
    yield metadata_value(ProducerIdsRecord(target.node_id, next_producer_id=next_id))


def _acl(binding: AclBinding) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        os.urandom(16),
        NUMBERS[binding.resource_type],
        binding.resource_name,
        NUMBERS[binding.pattern_type],
        binding.principal,
        binding.host,
        NUMBERS[binding.operation],
        NUMBERS[binding.permission],
    )
