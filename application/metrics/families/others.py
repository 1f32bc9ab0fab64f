"""A few names of Redpanda and kminion, where they say nothing that is not known anyway."""

from __future__ import annotations

from application.metrics.families.family import gauge

KMINION_TOPIC_SIZE = gauge(
    "kminion_kafka_topic_log_dir_size_total_bytes",
    "Bytes of batches in the log of the topic.",
    "topic_name",
)
REDPANDA_BROKERS = gauge("redpanda_cluster_brokers", "Brokers of the cluster that are alive.")
REDPANDA_PARTITIONS = gauge("redpanda_cluster_partitions", "Partitions of all topics.")
REDPANDA_UNAVAILABLE = gauge(
    "redpanda_cluster_unavailable_partitions", "As offlinepartitionscount."
)
KMINION_GROUP_TOPIC_LAG = gauge(
    "kminion_kafka_consumer_group_topic_lag",
    "As kafka_consumergroup_lag_sum.",
    "group_id",
    "topic_name",
)
KMINION_GROUP_MEMBERS = gauge(
    "kminion_kafka_consumer_group_members", "Members of the group.", "group_id"
)
