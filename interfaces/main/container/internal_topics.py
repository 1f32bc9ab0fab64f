"""The internal topics: with the setting offsets.topic, rows of the store are also their records."""

from __future__ import annotations

from application.broker import GroupServices, TransactionServices
from application.groups.offsets_topic import OffsetsTopic
from application.partitions.internal_topic import InternalTopic
from application.state.features import Features
from application.topics.create import CreateTopicsService, NewTopic
from application.topics.delete import DeleteTopicsService
from application.topics.internal_contents import OffsetsAndGroups, Transactions
from application.topics.internal_topics import Contents, InternalTopicSetup
from application.transactions.state_topic import TransactionsInTopic
from domain.configs.broker import BrokerConfig
from domain.topics.topic import OFFSETS_TOPIC, TRANSACTION_TOPIC
from infrastructure.codecs.checksum import crc32c
from interfaces.main.container.core import Core


class InternalTopics:
    """None: the topic is off."""

    def __init__(self, core: Core, features: Features) -> None:
        self._core = core
        self._offsets = self._opened(OFFSETS_TOPIC)
        self._transactions = self._opened(TRANSACTION_TOPIC)
        self.offsets = None if self._offsets is None else OffsetsTopic(self._offsets)
        self.transactions = None
        if self._transactions is not None:
            self.transactions = TransactionsInTopic(
                core.transactions, self._transactions, features, core.catalog
            )

    def _opened(self, name: str) -> InternalTopic | None:
        """With the setting off, until the topic is deleted: then a start with it on finds it
        up to date.
        """
        core = self._core
        if core.config.offsets_topic == "off" and core.cluster.internal_topic(name) is None:
            return None
        return InternalTopic(
            name,
            core.catalog,
            core.log,
            core.commits,
            core.cluster,
            core.cluster_changes,
            core.clock,
            crc32c,
        )

    def setups(
        self,
        groups: GroupServices,
        transactions: TransactionServices,
        create_topics: CreateTopicsService,
        delete_topics: DeleteTopicsService,
    ) -> list[InternalTopicSetup]:
        core, config = self._core, self._core.config
        offsets: Contents | None = None
        if self.offsets is not None:
            offsets = OffsetsAndGroups(self.offsets, groups.offsets, groups.registry)
        states: Contents | None = None
        if self.transactions is not None:
            states = Transactions(self.transactions, transactions.registry)
        return [
            InternalTopicSetup(
                new_topic,
                topic,
                contents,
                config.offsets_topic == "on",
                core.placement,
                core.catalog,
                create_topics,
                delete_topics,
                core.cluster,
                core.cluster_changes,
                core.background,
            )
            for new_topic, topic, contents in (
                (_new_offsets_topic(config), self._offsets, offsets),
                (_new_transaction_topic(config), self._transactions, states),
            )
        ]


def _new_offsets_topic(config: BrokerConfig) -> NewTopic:
    """With Kafka's configs."""
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": str(config.offsets_topic_segment_bytes),
    }
    return NewTopic(OFFSETS_TOPIC, config.offsets_topic_num_partitions, configs=configs)


def _new_transaction_topic(config: BrokerConfig) -> NewTopic:
    """With Kafka's configs."""
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": str(config.transaction_state_log_min_isr),
        "segment.bytes": str(config.transaction_state_log_segment_bytes),
        "unclean.leader.election.enable": "false",
    }
    return NewTopic(TRANSACTION_TOPIC, config.transaction_state_log_num_partitions, configs=configs)
