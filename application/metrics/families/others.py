"""A few names of Redpanda and kminion, where they say nothing that is not known anyway."""

from __future__ import annotations

from application.metrics.families.family import Family, Kind

_GAUGE = Kind.GAUGE

REDPANDA_BROKERS = Family("redpanda_cluster_brokers", _GAUGE, "Brokers of the cluster: always one.")
REDPANDA_PARTITIONS = Family("redpanda_cluster_partitions", _GAUGE, "Partitions of all topics.")
REDPANDA_UNAVAILABLE = Family(
    "redpanda_cluster_unavailable_partitions", _GAUGE, "Partitions whose log cannot be read."
)
KMINION_GROUP_TOPIC_LAG = Family(
    "kminion_kafka_consumer_group_topic_lag",
    _GAUGE,
    "As kafka_consumergroup_lag_sum.",
    ("group_id", "topic_name"),
)
KMINION_GROUP_MEMBERS = Family(
    "kminion_kafka_consumer_group_members", _GAUGE, "Members of the group.", ("group_id",)
)
KMINION_TOPIC_SIZE = Family(
    "kminion_kafka_topic_log_dir_size_total_bytes",
    _GAUGE,
    "Bytes of batches that are kept of the topic.",
    ("topic_name",),
)

FAMILIES = (
    KMINION_TOPIC_SIZE,
    REDPANDA_BROKERS, REDPANDA_PARTITIONS, REDPANDA_UNAVAILABLE, KMINION_GROUP_TOPIC_LAG,
    KMINION_GROUP_MEMBERS,
)  # fmt: skip
