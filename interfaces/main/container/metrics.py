"""The sources of metrics, imported at the first scrape; and the history, from the start."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from math import nan
from typing import TYPE_CHECKING

from application.background.runner import Runner
from application.broker import Broker
from application.metrics.families.request_counts import Counted
from application.metrics.history import History
from application.ports.event_log import EventLog
from application.ports.pending import Pending
from application.ports.volume import UNKNOWN_SPACE
from infrastructure.observability.loop_lag import LoopLag
from infrastructure.storage.volume import StorageVolume
from interfaces.embed import __version__
from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.shared import Shared
from interfaces.main.container.core import Core
from interfaces.terminal.addresses import host_port

if TYPE_CHECKING:
    from application.metrics.families.family import Source
    from application.metrics.topics import TopicReadings
    from infrastructure.observability.collecting import Collector, Result, Scrapes


class BrokerMetrics:
    def __init__(
        self,
        core: Core,
        broker: Broker,
        shared: Shared,
        listeners: Sequence[Listener],
        loop_lag: LoopLag,
    ) -> None:
        self._core = core
        self._broker = broker
        self._shared = shared
        self._listeners = listeners
        self._loop_lag = loop_lag
        self.started_at_ms = core.clock.now_ms()
        self.history = History(
            broker.catalog,
            broker.groups.offsets,
            broker.background,
            core.clock,
            self.counted,
            core.commit.durations,
            self._gauges,
        )
        self._collector: Collector | None = None
        self._scrapes: Scrapes | None = None

    def prepare(self) -> None:
        """Imports the modules; any thread may call it."""
        from infrastructure.observability.collecting import Collector, Scrapes

        core = self._core
        if self._scrapes is None:
            topics = self._topics()
            self._collector = Collector(
                [*self._sources(), topics.read],
                Runner(core.scheduler, core.clock, core.commits),
                topics.load,
            )
            self._scrapes = Scrapes(self._collector)

    def scrape(self) -> Pending[Result]:
        """Implements interfaces.rest.admin.Metrics."""
        self.prepare()
        assert self._scrapes is not None
        return self._scrapes.scrape()

    def start_sending(
        self, from_thread: Callable[[Callable[[], None]], None], events: EventLog
    ) -> None:
        """To the OpenTelemetry collector of the settings, if any."""
        config = self._broker.config
        if config.otel_endpoint is None:
            return
        from infrastructure.observability.otel_export import OtelExport

        self.prepare()
        assert self._collector is not None
        OtelExport(
            self._collector,
            self._broker.background,
            from_thread,
            self._core.clock,
            events,
            config.otel_endpoint,
            config.otel_interval_ms,
            {
                "service.name": "ottla",
                "service.version": __version__,
                "service.instance.id": f"{self._broker.cluster_id}/{config.node_id}",
            },
        ).start()

    def _sources(self) -> list[Source]:
        from application.metrics.authentication import AuthenticationReadings
        from application.metrics.broker import BrokerReadings
        from application.metrics.groups import GroupReadings
        from application.metrics.quotas import QuotaReadings
        from application.metrics.requests import RequestReadings
        from application.metrics.transactions import TransactionReadings
        from infrastructure.observability.process_figures import ProcessFigures
        from infrastructure.observability.store_figures import StoreFigures
        from interfaces.kafka.connections.figures import ConnectionFigures
        from interfaces.kafka.requests.error_codes import NAMES

        broker, clock = self._broker, self._core.clock
        connections = ConnectionFigures(self._shared)
        whole = BrokerReadings(broker, clock, __version__, self.started_at_ms, self._addresses)
        return [
            whole.read,
            connections.read,
            RequestReadings(self.counted, NAMES).read,
            self._core.commit.read,
            StoreFigures(self._core.storage).read,
            self._loop_lag.read,
            ProcessFigures().read,
            GroupReadings(broker.groups.registry, broker.groups.offsets, broker.catalog).read,
            TransactionReadings(broker.transactions).read,
            AuthenticationReadings(broker.security.authentication).read,
            QuotaReadings(broker.quotas).read,
        ]

    def _topics(self) -> TopicReadings:
        from application.metrics.topics import TopicReadings

        broker, is_under_min_isr = self._broker, self._core.min_insync_replicas.is_under
        return TopicReadings(
            broker.catalog, self._core.clock, broker.placement, _freeze, is_under_min_isr
        )

    def counted(self) -> list[Counted]:
        """Counts of each version of each API that has been requested."""
        routes = self._shared.routes.made.values()
        return [(route.title, route.version, route.counts) for route in routes]

    def _gauges(self) -> tuple[float, float, float]:
        storage = self._core.storage
        space = StorageVolume(storage.info).space()
        return (
            len(self._shared.sessions),
            nan if storage.room is None else storage.room().used_bytes,
            nan if space == UNKNOWN_SPACE else space.usable_bytes,
        )

    def _addresses(self) -> list[str]:
        """The bound address where none is advertised."""
        return [
            host_port(*(each.advertised or each.bound)) for each in self._listeners if each.is_open
        ]


def _freeze() -> None:
    """One collection would examine all partitions of a scrape: docs/internals/adr/0004."""
    gc.collect(0)
    gc.freeze()
