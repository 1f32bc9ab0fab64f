"""What kafka_exporter tells of a cluster, with its names and labels: most boards read these."""

from __future__ import annotations

from application.metrics.families.family import Family, gauge


def _of_partition(name: str, text: str) -> Family:
    return gauge(name, text, "topic", "partition")


def _of_committed(name: str, text: str) -> Family:
    return gauge(name, text, "consumergroup", "topic", "partition")


def _of_group_and_topic(name: str, text: str) -> Family:
    return gauge(name, text, "consumergroup", "topic")


BROKERS = gauge("kafka_brokers", "Brokers of the cluster that are alive.")
BROKER_INFO = gauge(
    "kafka_broker_info", "Brokers that are alive, and their addresses for clients.", "id", "address"
)
PARTITIONS = gauge("kafka_topic_partitions", "Partitions of the topic.", "topic")
CURRENT_OFFSET = _of_partition(
    "kafka_topic_partition_current_offset",
    "High watermark: the offset of the next durable record.",
)
OLDEST_OFFSET = _of_partition("kafka_topic_partition_oldest_offset", "Log start offset.")
LEADER = _of_partition(
    "kafka_topic_partition_leader", "The id of the broker, of partitions that it leads."
)
REPLICAS = _of_partition(
    "kafka_topic_partition_replicas", "Brokers that may lead the partition; they hold no copies."
)
IN_SYNC = _of_partition("kafka_topic_partition_in_sync_replica", "Those that are alive.")
PREFERRED = _of_partition(
    "kafka_topic_partition_leader_is_preferred", "1: the leader is the first replica."
)
UNDER_REPLICATED = _of_partition(
    "kafka_topic_partition_under_replicated_partition", "1: not all replicas are alive."
)
GROUP_OFFSET = _of_committed("kafka_consumergroup_current_offset", "Committed offset of the group.")
GROUP_LAG = _of_committed(
    "kafka_consumergroup_lag",
    "Records from the committed offset of the group to the high watermark; of partitions that this "
    "broker leads.",
)
GROUP_OFFSET_SUM = _of_group_and_topic(
    "kafka_consumergroup_current_offset_sum",
    "Sum of the committed offsets of the group over all partitions of the topic.",
)
GROUP_LAG_SUM = _of_group_and_topic(
    "kafka_consumergroup_lag_sum",
    "Consumer lag of the group over all partitions of the topic; only if this broker leads those "
    "with a committed offset.",
)
GROUP_MEMBERS = gauge("kafka_consumergroup_members", "Members of the group.", "consumergroup")
