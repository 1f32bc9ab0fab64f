"""PromQL for the lag of consumer groups, of one broker or of all of a cluster.

The coordinator of a group exports its committed offsets, and the leader of a partition its end.
Both get the id of their cluster: one Prometheus may have several. While a leader moves, two brokers
may export the same partition: `max by`.
"""

from __future__ import annotations

from application.metrics.families import kafka_exporter as exporter
from application.metrics.families import own


def group_lag(selector: str = "") -> str:
    """By cluster, group and topic. `selector` is that of the metrics, in braces."""
    with_cluster = f"* on (job, instance) group_left (cluster_id) {own.BUILD.name}"
    return (
        "sum by (cluster_id, consumergroup, topic) (clamp_min("
        "max by (cluster_id, topic, partition) "
        f"({exporter.CURRENT_OFFSET.name}{selector} {with_cluster})"
        " - on (cluster_id, topic, partition) group_right () "
        "max by (cluster_id, consumergroup, topic, partition) "
        f"({exporter.GROUP_OFFSET.name}{selector} {with_cluster})"
        ", 0))"
    )
