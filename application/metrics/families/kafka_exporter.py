"""What kafka_exporter tells of a cluster, with its names and labels: most boards read these."""

from __future__ import annotations

from application.metrics.families.family import Family, Kind

_GAUGE = Kind.GAUGE
_PARTITION = ("topic", "partition")
_COMMITTED = ("consumergroup", "topic", "partition")
_OF_TOPIC = ("consumergroup", "topic")

BROKERS = Family("kafka_brokers", _GAUGE, "Brokers of the cluster: always one.")
BROKER_INFO = Family(
    "kafka_broker_info", _GAUGE, "The broker, and where its clients connect.", ("id", "address")
)
PARTITIONS = Family("kafka_topic_partitions", _GAUGE, "Partitions of the topic.", ("topic",))
CURRENT_OFFSET = Family(
    "kafka_topic_partition_current_offset",
    _GAUGE,
    "The offset that the next record gets, of what is durable: the high watermark.",
    _PARTITION,
)
OLDEST_OFFSET = Family(
    "kafka_topic_partition_oldest_offset", _GAUGE, "Where the log begins.", _PARTITION
)
LEADER = Family("kafka_topic_partition_leader", _GAUGE, "The id of the broker.", _PARTITION)
REPLICAS = Family("kafka_topic_partition_replicas", _GAUGE, "Always 1.", _PARTITION)
IN_SYNC = Family("kafka_topic_partition_in_sync_replica", _GAUGE, "Always 1.", _PARTITION)
PREFERRED = Family("kafka_topic_partition_leader_is_preferred", _GAUGE, "Always 1.", _PARTITION)
UNDER_REPLICATED = Family(
    "kafka_topic_partition_under_replicated_partition", _GAUGE, "Always 0.", _PARTITION
)
GROUP_OFFSET = Family(
    "kafka_consumergroup_current_offset",
    _GAUGE,
    "What the group has committed for the partition.",
    _COMMITTED,
)
GROUP_LAG = Family(
    "kafka_consumergroup_lag",
    _GAUGE,
    "Records of the partition from what the group has committed to the high watermark.",
    _COMMITTED,
)
GROUP_OFFSET_SUM = Family(
    "kafka_consumergroup_current_offset_sum",
    _GAUGE,
    "What the group has committed for all partitions of the topic together.",
    _OF_TOPIC,
)
GROUP_LAG_SUM = Family(
    "kafka_consumergroup_lag_sum",
    _GAUGE,
    "Records of all partitions of the topic that the group has not committed.",
    _OF_TOPIC,
)
GROUP_MEMBERS = Family(
    "kafka_consumergroup_members", _GAUGE, "Members of the group.", ("consumergroup",)
)

FAMILIES = (
    BROKERS, BROKER_INFO, PARTITIONS, CURRENT_OFFSET, OLDEST_OFFSET, LEADER, REPLICAS, IN_SYNC,
    PREFERRED, UNDER_REPLICATED, GROUP_OFFSET, GROUP_LAG, GROUP_OFFSET_SUM, GROUP_LAG_SUM,
    GROUP_MEMBERS,
)  # fmt: skip
