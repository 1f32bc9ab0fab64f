"""One broker process: wired by the container of `serve`, over the world's disk."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakSet

from application.background.job import Job
from application.background.runner import JobResult, Runner
from domain.configs.broker import BrokerConfig
from infrastructure.security.authorizer import OpenAuthorizer
from infrastructure.storage.engine import Storage, StorageInfo
from infrastructure.storage.repositories.offset_repository import StoredOffsetRepository
from interfaces.kafka.connections.session import Session
from interfaces.kafka.connections.shared import Shared
from interfaces.main.container.core import Core
from interfaces.main.container.services import make_broker
from tests.fakes.logs import FakeRequestLog
from tests.simulation.compaction import Compaction
from tests.simulation.disk import Disk
from tests.simulation.model import Violation
from tests.simulation.network import Line
from tests.simulation.store import UNREADABLE, SimulatedStore, StoreControl
from tests.simulation.timeline import ProcessLoop, Timeline

LISTENER = "PLAINTEXT"

MakeStore = Callable[[Disk, ProcessLoop, StoreControl], SimulatedStore]

#: Reasons for which the broker may close a connection, or not compact a log.
FORESEEN = ("produce_failed", UNREADABLE)
#: Errors that failures of the world cause.
STORE_FAILS = ("storage_failed", "partition_unreadable")


class Events:
    """The event log: an unexpected warning or error ends the simulation."""

    def __init__(self, log: Callable[[str, str], None]) -> None:
        self._log = log

    def info(self, event: str, **fields: object) -> None:
        pass

    def warning(self, event: str, **fields: object) -> None:
        self._log("broker", f"{event}: {fields.get('detail', '')}")
        if fields.get("reason", fields.get("error")) not in FORESEEN:
            raise Violation(f"the broker logs {event}: {fields}")

    def error(self, event: str, **fields: object) -> None:
        if event in STORE_FAILS:
            return
        error = fields.get("error")
        raise Violation(f"the broker logs {event}: {error!r}") from (
            error if isinstance(error, BaseException) else None
        )


class Process:
    def __init__(
        self,
        timeline: Timeline,
        disk: Disk,
        control: StoreControl,
        log: Callable[[str, str], None],
        config: BrokerConfig,
        compaction: Compaction,
        make_store: MakeStore = SimulatedStore,
    ) -> None:
        self.loop = ProcessLoop(timeline)
        self.store = make_store(disk, self.loop, control)
        events = Events(log)
        info = StorageInfo("simulated", None, 0, "os", "a-store")
        storage = Storage(self.store, self.store, self.store, info)
        core = Core(config, self.loop, timeline, events, storage)
        offsets = StoredOffsetRepository(storage.state, core.commits.when_committed)
        self._watch_jobs(core.background)
        worker = compaction.worker(self.loop, self.store)
        self.broker = make_broker(core, offsets, OpenAuthorizer(), cleaning_workers=worker)
        self.shared = Shared(self.broker, self.loop, events, FakeRequestLog())
        self.shared.watch_idle()
        self.broker.start_upkeep()
        self.lines: list[Line] = []

    def connect(self, line: Line) -> None:
        self.lines.append(line)
        number = next(self.shared.connection_ids)
        line.connect(Session(self.shared, number, LISTENER))

    # ---- the end

    def _watch_jobs(self, runner: Runner) -> None:
        self._jobs: WeakSet[Job[None]] = WeakSet()
        begin = runner._begin

        def watched(result: JobResult[None], *then: Callable[..., None]) -> None:
            self._jobs.add(result.job)
            begin(result, *then)

        runner._begin = watched  # type: ignore[assignment, method-assign]

    def end_jobs(self) -> None:
        """Python may collect generators that wait for each other in an order in which it cannot
        close them.
        """
        for job in list(self._jobs):
            if not job.gi_running:
                job.close()

    def kill(self) -> None:
        self.loop.kill()
        self.end_jobs()
        self.store.die()
        for line in self.lines:
            line.process_died()

    def drain(self) -> None:
        """The first steps of `App.drain`."""
        self.broker.messages.fetch.release()
        for session in list(self.shared.sessions):
            session.drain()

    def held_for_clients(self) -> list[str]:
        """Resources of clients that have not been released."""
        shared, purgatory = self.shared, self.broker.messages.fetch._purgatory
        held: dict[str, object] = {
            "sessions": len(shared.sessions),
            "connections of the reaper": len(shared._connection_reaper),
            "connections": shared.connections.count,
            "connections by address": shared.connections._by_address,
            "bytes of large requests": shared.memory.used_bytes,
            "requests that wait for memory": len(shared.memory),
            "waiting fetches": len(purgatory),
            "watched partitions": len(purgatory._watchers),
        }
        return [f"{what}: {value}" for what, value in held.items() if value]

    def leftovers(self) -> list[str]:
        """Resources that have not been released, and unfinished work."""
        broker = self.broker
        commits = broker.commits
        held: dict[str, object] = {
            "senders": len(self.shared.response_flusher._senders),
            "waiters for a commit": commits._waiters + commits._in_commit,
            "touched partitions": len(commits._touched),
            "topics being changed": broker.topics.create_topics._topics.runtime.decisions,
            "jobs": len(broker.background),
            "doomed partitions": len(broker.dropping),
            "partitions to be trimmed": len(broker.trimming),
            "requests for a producer id": len(broker.messages.init_producer_id._waiting),
            "cold reads": self.store.loading,
            "staged changes": len(self.store.staged),
            "offsets of deleted topics": len(broker.groups.offset_cleanup),
            "offsets in flight": broker.groups.offsets.pending_commits,
            "pending members": broker.groups.coordinator.pending_requests,
            "transactions being changed": broker.transactions.registry.runtime.decisions,
            "pending offsets being changed": broker.groups.offsets.pending.runtime.decisions,
            "offsets of ending transactions": broker.groups.transactional_offsets._rows_ending,
            "group changes in flight": broker.groups.registry.runtime.decisions,
        }
        return self.held_for_clients() + [f"{what}: {n}" for what, n in held.items() if n]

    def check_sizes(self, disk: Disk) -> None:
        """Checks the sizes that DescribeLogDirs would return."""
        for one in self.broker.catalog.loaded():
            log = disk.logs.get(one.partition_id)
            stored = sum(map(len, log.batches)) if log else 0
            if one.broken is None and one.durable.size_bytes != stored:
                raise Violation(
                    f"{one.topic}-{one.index} has {stored} bytes, not {one.durable.size_bytes}"
                )
