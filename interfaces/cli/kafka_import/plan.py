"""Plan: what an import puts into the store, and what it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from application.ports.offset_repository import OffsetWrite
from domain.configs.resource import Resource
from domain.groups.group import GroupChange
from domain.security.acl import AclBinding
from domain.security.quota import QuotaEntity, Quotas
from domain.security.scram import Credentials
from domain.transactions.transaction import Transaction
from infrastructure.kafka_folder.partition_log import PartitionLog


class Facts(NamedTuple):
    """Of the retained batches of a partition; numbers only, so that two reads are compared."""

    #: The first one begins here; -1: there is none.
    base_offset: int = -1
    end_offset: int = 0
    batches: int = 0
    #: Without those of control batches.
    records: int = 0
    size_bytes: int = 0
    #: Of all their bytes, one after the other.
    checksum: int = 0


class Skipped(NamedTuple):
    what: str
    why: str


class PartitionPlan:
    def __init__(self, topic: str, number: int, log: PartitionLog, cleaned_offset: int) -> None:
        self.topic = topic
        self.number = number
        self.log = log
        self.cleaned_offset = cleaned_offset
        #: Other nodes have it, too.
        self.is_replicated = False
        self.facts = Facts()
        #: After the last gap between offsets; 0: there is none.
        self.gap_end = 0

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


class TopicPlan(NamedTuple):
    name: str
    topic_id: bytes
    configs: dict[str, str]
    partitions: list[PartitionPlan]

    @property
    def records(self) -> int:
        return sum(one.facts.records for one in self.partitions)

    @property
    def size_bytes(self) -> int:
        return sum(one.facts.size_bytes for one in self.partitions)


class Plan:
    def __init__(self, source: str, cluster_id: str) -> None:
        #: Tells folders apart.
        self.source = source
        self.cluster_id = cluster_id
        self.topics: list[TopicPlan] = []
        #: Above that of every batch and client.
        self.leader_epoch = 0
        self.next_producer_id = 0
        #: None: as that of a new store.
        self.transaction_version: int | None = None
        self.users: dict[str, Credentials] = {}
        self.acls: list[AclBinding] = []
        self.quotas: dict[QuotaEntity, Quotas] = {}
        self.configs: dict[Resource, dict[str, str]] = {}
        self.group_ids: list[str] = []
        self.groups: list[GroupChange] = []
        self.offsets: list[OffsetWrite] = []
        #: Of open transactions, by producer id.
        self.pending: dict[int, list[OffsetWrite]] = {}
        self.transactions: list[Transaction] = []
        self.skipped: list[Skipped] = []
        #: What need not be imported.
        self.notes: list[str] = []

    def skip(self, what: str, why: str) -> None:
        self.skipped.append(Skipped(what, why))

    def partitions(self) -> Iterator[PartitionPlan]:
        for topic in self.topics:
            yield from topic.partitions

    @property
    def size_bytes(self) -> int:
        return sum(topic.size_bytes for topic in self.topics)

    @property
    def records(self) -> int:
        return sum(topic.records for topic in self.topics)
