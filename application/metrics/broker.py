"""Metrics of the broker as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from application.broker import Broker
from application.metrics.families import jmx, others, own
from application.metrics.families import kafka_exporter as exporter
from application.metrics.families.family import Reading
from application.ports.clock import Clock
from domain.partitions.retention import Reason


class BrokerReadings:
    def __init__(
        self,
        broker: Broker,
        clock: Clock,
        version: str,
        started_at_ms: int,
        addresses: Callable[[], list[str]],
    ) -> None:
        """`addresses`: the advertised ones of this broker."""
        self._broker = broker
        self._clock = clock
        self._version = version
        self._started_at_ms = started_at_ms
        self._addresses = addresses

    def read(self) -> Iterator[Reading]:
        broker = self._broker
        yield own.BUILD, [((self._version, broker.cluster_id), 1)]
        yield own.UPTIME, [((), (self._clock.now_ms() - self._started_at_ms) / 1000)]
        yield from self._cluster()
        yield own.TOPICS, [((), len(broker.catalog))]
        is_ready = broker.placement.has_lease and broker.commits.storage_health.reason() is None
        yield own.STORE_READY, [((), int(is_ready))]
        yield own.COMMIT_WAITERS, [((), broker.commits.waiters.histogram())]
        yield own.WAITING_FETCHES, [((), broker.messages.fetch.waiting)]
        expired = broker.retention.expired_records
        yield own.EXPIRED_RECORDS, [((reason.value,), expired[reason]) for reason in Reason]
        compaction = broker.compaction.metrics
        yield own.COMPACTED_RECORDS, [((), compaction.records_removed)]
        yield jmx.RECOPY_PERCENT, [((), int(100 * compaction.recopy_ratio))]
        yield jmx.MAX_CLEAN_TIME, [((), compaction.clean_time_ms // 1000)]
        yield jmx.MAX_BUFFER_UTILIZATION, [((), int(100 * compaction.buffer_utilization))]
        yield jmx.MAX_COMPACTION_DELAY, [((), compaction.max_delay_ms // 1000)]
        yield jmx.MAX_DIRTY_PERCENT, [((), int(100 * compaction.max_dirty_ratio))]
        yield jmx.SINCE_LAST_RUN, [((), compaction.since_last_run_ms)]
        yield jmx.UNCLEANABLE, [((), compaction.uncleanable)]
        yield jmx.UNCLEANABLE_BYTES, [((), compaction.uncleanable_bytes)]
        yield own.FETCH_SESSIONS, [((), len(broker.messages.fetch_sessions))]
        yield own.PENDING_OFFSET_COMMITS, [((), broker.groups.offsets.pending_commits)]

    def _cluster(self) -> Iterator[Reading]:
        cluster, placement = self._broker.cluster, self._broker.placement
        nodes = placement.nodes()
        for family in (exporter.BROKERS, others.REDPANDA_BROKERS, jmx.ACTIVE_BROKERS):
            yield family, [((), len(nodes))]
        yield jmx.FENCED_BROKERS, [((), len(cluster.fenced_nodes()))]
        is_controller = cluster.controller_id == placement.node_id
        yield jmx.ACTIVE_CONTROLLERS, [((), int(is_controller))]
        found = [(placement.node_id, address) for address in self._addresses()]
        for node in nodes:
            if node.node_id != placement.node_id:
                found += [
                    (node.node_id, f"{host}:{port}") for host, port in node.addresses.values()
                ]
        yield exporter.BROKER_INFO, [((str(node_id), address), 1) for node_id, address in found]
        left_s = cluster.lease_left_s(placement.node_id)
        yield own.LEASE, [] if left_s is None else [((), left_s)]
        # The id is a label: as a value it would be rounded to 53 bits.
        yield (
            own.BROKER_SESSION,
            [
                ((str(one.node.node_id), one.state.name, str(one.session_id or "")), 1)
                for one in ([] if left_s is None else cluster.brokers())
            ],
        )
