"""StoreUpkeep: what a store needs now and then, and what of it is logged."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from application.broker import Broker
from application.ports.copies import Copies
from application.ports.event_log import EventLog
from domain.configs.topic import resolve_topic_config
from domain.errors import StorageFailed
from infrastructure.storage.engine import Objects, Storage
from interfaces.kafka.requests.delayed_produce import respond_to_late

CHECK_FILE_MS = 5000
CHECK_WAITS_MS = 1000
KEEP_UP_MS = 5000


class StoreUpkeep:
    def __init__(self, storage: Storage, broker: Broker, events: EventLog) -> None:
        self._storage = storage
        self._broker = broker
        self._health = broker.commits.storage_health
        self._events = events

    def start(self) -> None:
        storage = self._storage
        if storage.start_flush is not None:
            self._now_and_then(self._broker.config.flush_interval_ms, storage.start_flush)
        if storage.check_file is not None:
            self._now_and_then(CHECK_FILE_MS, storage.check_file)
        if storage.keep_up is not None:
            self._now_and_then(KEEP_UP_MS, storage.keep_up)
        if storage.waits_for is not None:
            self._now_and_then(CHECK_WAITS_MS, partial(self._look_at_waits, storage.waits_for))
        if storage.repeated_commits is not None:
            repeated = partial(self._report_repeated, storage.repeated_commits)
            self._now_and_then(CHECK_WAITS_MS, repeated)
        if storage.not_dropped is not None:
            dropped = partial(self._report_not_dropped, storage.not_dropped)
            self._now_and_then(CHECK_WAITS_MS, dropped)
        if storage.objects is not None:
            self._now_and_then(CHECK_WAITS_MS, partial(self._report_objects, storage.objects))
        if storage.copies is not None:
            self._count_copies(storage.copies)
            self._now_and_then(CHECK_WAITS_MS, partial(self._look_at_copies, storage.copies))

    def _look_at_copies(self, copies: Copies) -> None:
        copies.look()
        self._count_copies(copies)

    def _count_copies(self, copies: Copies) -> None:
        required = resolve_topic_config({}, self._broker.config).min_insync_replicas
        self._health.counted(copies.count, required)

    def _look_at_waits(self, waits_for: Callable[[], str | None]) -> None:
        reason = waits_for()
        self._health.waits(reason)
        if reason is not None:
            respond_to_late(self._broker.commits)

    def _report_repeated(self, repeated: Callable[[], int]) -> None:
        self._health.repeated(repeated())

    def _report_not_dropped(self, not_dropped: Callable[[], Collection[str]]) -> None:
        self._health.not_dropped(not_dropped())

    def _report_objects(self, objects: Objects) -> None:
        self._health.not_sealed(objects.not_sealed())

    def _now_and_then(self, interval_ms: int, call: Callable[[], None]) -> None:
        def again() -> None:
            # First, so that a failure is not the end.
            self._broker.background.after_ms(interval_ms, again)
            try:
                call()
            except StorageFailed as failure:
                self._events.warning("flush_failed", error=failure)

        self._broker.background.after_ms(interval_ms, again)
