"""World: one broker, its disk, network and clients, and their failures, drawn from a seed.

First commits fail or are delayed, connections are cut, and the broker dies and restarts. Then all
failures end, and every client has to finish in bounded time.
"""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from typing import Any

from application.background.runner import LONGEST_RETRY_MS
from domain.configs.broker import BrokerConfig
from tests.simulation.actors.client import Call, Client
from tests.simulation.actors.committer import OffsetAuditor
from tests.simulation.actors.consumer import Consumer
from tests.simulation.actors.consumer_member import BEAT_MS, SESSION_TIMEOUT_MS
from tests.simulation.actors.kinds import KINDS
from tests.simulation.actors.lanes import LATEST_CLAIM_MS
from tests.simulation.compaction import Compaction
from tests.simulation.disk import Append, Disk
from tests.simulation.internal_topics import OFFSETS_PARTITIONS
from tests.simulation.limits import Limits
from tests.simulation.membership import Membership
from tests.simulation.mishaps import DAY_MS, FAULTS_MS, Mishaps
from tests.simulation.model import Model, Violation
from tests.simulation.network import Line
from tests.simulation.process import Process
from tests.simulation.situations import Situation
from tests.simulation.small_steps import small_steps
from tests.simulation.store import SimulatedStore
from tests.simulation.stored_files import StoredFiles, stores_files
from tests.simulation.timeline import Timeline
from tests.simulation.transactions import Transactions

#: Time limit for all clients after the failures have ended.
RECOVERY_MS = 30_000
#: Shorter than the largest jump of the clock.
OFFSETS_RETENTION_MINUTES = 2
#: In worlds where producers expire: longer than any retry.
EXPIRATION_MS = 40_000
EXPIRATION_CHECK_MS = 2000


#: Share of the worlds with groups.
WITH_GROUPS = 0.4


def has_groups(seed: int) -> bool:
    return Random(f"groups of {seed}").random() < WITH_GROUPS


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random = Random(seed)
        self.log_lines: list[str] = []
        self.situations: dict[Situation, int] = {}
        self.timeline = Timeline(random)
        self.disk = Disk()
        self.files = StoredFiles(seed) if stores_files(seed) else None
        self.limits = Limits(seed)
        self.compaction = Compaction(seed)
        self.transactions = Transactions(seed)
        self.model = Model(self.disk, self.timeline, self.limits, self.compaction)
        self.model.transactions.count = self.count
        self.topic_names = ["a", "b"][: random.choice((1, 1, 2))]
        self.crowded = random.random() < 0.04
        self.expires = random.random() < 0.2
        self.creates = random.random() < 0.3
        self.auto_created = "on-demand" if self.creates else None
        if self.auto_created is not None:
            self.topic_names.append(self.auto_created)
        #: Separate, so that groups do not change worlds without groups.
        self.group_random = Random(f"groups of {seed}")
        self.has_groups = self.group_random.random() < WITH_GROUPS
        self.trimmed_at_once = Random(f"slices of {seed}").choice((1, 3, 256))
        settings = {
            **self._settings_of_groups(),
            **self.limits.settings(),
            **self.compaction.settings(),
            **self.transactions.settings(),
            "auto.create.topics.enable": "true" if self.creates else "false",
            "producer.id.expiration.ms": str(EXPIRATION_MS if self.expires else 10 * DAY_MS),
            "log.message.timestamp.after.max.ms": str(10 * DAY_MS),
            "producer.id.expiration.check.interval.ms": str(EXPIRATION_CHECK_MS),
            "connection.unsent.max.bytes": str(random.choice((300, 2000, 1 << 20))),
            "connections.max.idle.ms": str(random.choice((600_000, 600_000, 100))),
            "max.incremental.fetch.session.cache.slots": str(random.choice((1, 1000))),
            "queued.max.request.bytes": "300000",
            "fetch.waiting.max": str(random.choice((1, 1000, 1000))),
        }
        written = Random(f"offsets topic of {seed}").choice((("on",), ("off",), ("on", "off")))
        #: One of them in each run of the broker.
        self._configs = [BrokerConfig({**settings, "offsets.topic": one}) for one in written]
        #: Connections of batches with acks=0, by their records.
        self.unanswered: dict[bytes, Line] = {}
        self.process: Process | None = None
        #: The process that is stopping: it accepts no connections.
        self._stopping: Process | None = None
        self._port = 40_000
        self.mishaps = Mishaps(self)
        self._start()
        self.groups = self._make_groups()
        self.clients: list[Client] = [client for kind in KINDS for client in kind.create_all(self)]

    # ---- groups

    def _settings_of_groups(self) -> dict[str, str]:
        return {
            "offsets.retention.minutes": str(OFFSETS_RETENTION_MINUTES),
            "offsets.retention.check.interval.ms": "300",
            "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
            "transaction.state.log.num.partitions": "2",
            "group.min.session.timeout.ms": "100",
            "group.consumer.session.timeout.ms": str(SESSION_TIMEOUT_MS),
            "group.consumer.min.session.timeout.ms": "100",
            "group.consumer.heartbeat.interval.ms": str(BEAT_MS),
            "group.consumer.min.heartbeat.interval.ms": "10",
        }

    def _make_groups(self) -> list[Membership]:
        kinds = self.group_random.choice(((), (True,), (False,), (False,), (True, False)))
        committed = self.model.committed
        committed.retention_ms = OFFSETS_RETENTION_MINUTES * 60_000
        if not self.has_groups:
            return []
        groups = [Membership(self, "modern" if one else "classic", one) for one in kinds]
        committed.is_read = lambda group_id, topic: any(
            one.group_id == group_id and one.is_read(topic) for one in groups
        )
        return groups

    def groups_of(self, consumer: bool) -> list[Membership]:
        return [one for one in self.groups if one.is_consumer == consumer]

    # ---- the log

    def log(self, who: str, text: str) -> None:
        self.log_lines.append(f"{self.timeline.now:6} ms  {who:7} {text}")

    def count(self, situation: Situation) -> None:
        self.situations[situation] = self.situations.get(situation, 0) + 1
        self.log("*", situation.value)

    @property
    def has_faults(self) -> bool:
        return self.mishaps.active

    # ---- start and end of the broker

    def die(self, how: str) -> None:
        assert self.process is not None
        self.log("*", how)
        process, self.process = self.process, None
        self.timeline.loop = None
        if len(process.broker.messages.fetch._purgatory):
            self.count(Situation.FETCH_OVER_CRASH)
        if process.broker.groups.coordinator.pending_requests:
            self.count(Situation.JOIN_OVER_CRASH)
        if any(log.is_in_pass for log in self.model.compacted.values()):
            self.count(Situation.COMPACTION_OVER_CRASH)
        if self.model.transactions.prepared():
            self.count(Situation.PREPARED_OVER_RESTART)
        process.kill()
        self.timeline.after(self.random.choice((1, 10, 100)), self._start)

    def stop(self) -> None:
        """SIGTERM: what `App.drain` does, in its order."""
        process = self.process
        if process is None:
            return
        self.log("*", "the broker is stopping")
        if len(process.broker.messages.fetch._purgatory):
            self.count(Situation.DRAINED)
        if process.store.loading:
            self.count(Situation.STOPPED_WHILE_LOADING)
        self._stopping = process
        process.drain()
        self._continue_stopping(process, 1000)

    def _continue_stopping(self, process: Process, patience: int) -> None:
        if self.process is not process:
            return
        if process.shared.sessions and patience:
            self.timeline.after(5, lambda: self._continue_stopping(process, patience - 1))
            return
        if any(line.healthy for line in process.lines):
            raise Violation("the broker is stopping, and a connection stays open")
        for session in list(process.shared.sessions):
            session.abort()
        process.broker.snapshot_all(lambda failure: self._stopped(process))

    def _stopped(self, process: Process) -> None:
        if self.process is process:
            held = process.held_for_clients()
            if held and not process.shared.sessions:
                raise Violation(f"still held after the end: {held}")
            self.process = None
            self.timeline.loop = None
            process.kill()
            self.log("*", "the broker has stopped")
            self.timeline.after(5, self._start)

    def _start(self) -> None:
        self._stopping = None
        if self.disk.tables.get("trimming"):
            self.count(Situation.TRIMMED_OVER_RESTART)
        config = self.group_random.choice(self._configs)
        self.process = Process(
            self.timeline,
            self.disk,
            self.mishaps,
            self.log,
            config,
            self.compaction,
            self.files.open if self.files else SimulatedStore,
        )
        self.timeline.loop = self.process.loop
        self.log("*", "the broker has started")

    # ---- for clients

    def connect(self, client: Client) -> Line | None:
        process = self.process
        if process is None or process is self._stopping:
            return None
        self._port += 1
        line = Line(
            self.timeline,
            self.random,
            process.loop,
            client,
            self._port,
            lambda: self.disk.commits,
            lambda: self.count(Situation.UNREAD),
        )
        process.connect(line)
        return line

    def known_topics(self, call: Call, response: Any) -> dict[str, tuple[bytes, int]]:
        """Returns the topics of a Metadata response, after checking each of them."""
        found: dict[str, tuple[bytes, int]] = {}
        for topic in response.topics:
            if topic.is_internal:
                continue
            if topic.error_code == 3:
                self.model.refused_as_unknown(topic.name, 0, *call.commits)
            elif topic.error_code:
                raise Violation(f"topic {topic.name} is described with error {topic.error_code}")
            else:
                count = len(topic.partitions)
                self.model.described(topic.name, topic.topic_id, count, *call.commits)
                found[topic.name] = (topic.topic_id, count)
        if call.message.topics is None:
            for name in self.topic_names:
                if name not in found:
                    self.model.refused_as_unknown(name, 0, *call.commits)
        return found

    def has_no_topics_left(self) -> bool:
        makers = (client for client in self.clients if client.creates_topics)
        return all(client.finished for client in makers) and not self.model.live()

    def is_staged(self, payload: bytes) -> bool:
        process = self.process
        if process is None:
            return False
        changes = process.store.pending
        return any(isinstance(one, Append) and one.batch[61:] == payload for one in changes)

    def has_load(self, topic: str) -> bool:
        """Returns True if a producer has a batch for the topic in flight."""
        return any(client.has_load_on(topic) for client in self.clients)

    # ---- run

    def run(self) -> None:
        """Raises Violation, or an exception of the broker."""
        with ExitStack() as context:
            for patched in small_steps(self):
                context.enter_context(patched)
            self.compaction.shrink(context)
            self.transactions.shrink(context)
            if self.files is not None:
                self.files.shrink(context)
            self._run()

    def _run(self) -> None:
        for client in self.clients:
            client.start()
        deadline_ms = FAULTS_MS + RECOVERY_MS
        if not self.timeline.run(deadline_ms, self._all_done):
            busy = [client.name for client in self.clients if not client.finished]
            raise Violation(f"{busy} did not finish")
        for client in self.clients:
            client.finish()
        self._outlast_transactions()
        if self.limits.exist:
            self._outlast_records()
        if self.compaction.exists:
            self._outlast_compaction()
        self.timeline.run(self.timeline.now + 5000, self._is_empty)
        assert self.process is not None
        leftovers = self.process.leftovers()
        if leftovers:
            raise Violation(f"still held: {leftovers}")
        self.model.check_disk()
        self.model.transactions.check_index(self.disk.tables.get("aborted", {}))
        if self.model.offsets_topic.checked:
            self.count(Situation.OFFSETS_TOPIC)
        if self.model.offsets_topic.transactions.checked:
            self.count(Situation.TRANSACTION_TOPIC)
        self.process.check_sizes(self.disk)
        if self.model.committed.strays():
            raise Violation(f"offsets of deleted topics are left: {self.model.committed.strays()}")
        if self.expires:
            self._outlast_producers()
        self._read_again()

    def _all_done(self) -> bool:
        if self.has_faults or self.process is None or self.process is self._stopping:
            return False
        return all(client.is_done() for client in self.clients)

    def _is_empty(self) -> bool:
        return self.process is not None and not self.process.leftovers()

    def _outlast_transactions(self) -> None:
        """Open transactions time out; prepared ones are completed."""
        transactions = self.model.transactions
        late_ms = self.timeline.now + LONGEST_RETRY_MS // 4
        if not self.timeline.run(late_ms, lambda: not transactions.unfinished()):
            raise Violation(f"{transactions.unfinished()} are not finished")

    def _outlast_records(self) -> None:
        """Retention removes everything that has expired by now, after failures a little later."""
        now_ms = self.timeline.now_ms()
        late_ms = self.timeline.now + LONGEST_RETRY_MS // 4
        starts = self.model.starts
        if not self.timeline.run(late_ms, lambda: not starts.expired(self.disk.commits, now_ms)):
            expired = starts.expired(self.disk.commits, now_ms)
            raise Violation(f"records of {expired} have expired, and are still there")
        if starts.times_expired:
            self.count(Situation.RECORDS_EXPIRED)

    def _outlast_compaction(self) -> None:
        """Compaction goes on up to the active segment, after failures a little later."""
        late_ms = self.timeline.now + LONGEST_RETRY_MS // 4
        if not self.timeline.run(late_ms, lambda: not self.model.dirty()):
            raise Violation(f"{self.model.dirty()} are not compacted")
        logs = self.model.compacted.values()
        if any(log.removed_records for log in logs):
            self.count(Situation.COMPACTED)
        if any(log.removed_tombstones for log in logs):
            self.count(Situation.TOMBSTONE_REMOVED)
        if any(log.removed_aborted for log in logs):
            self.count(Situation.ABORTED_COMPACTED)
        if any(log.removed_markers for log in logs):
            self.count(Situation.MARKER_COMPACTED)

    def _outlast_producers(self) -> None:
        """When the clock is set far forward, no producer is left, in memory or on the disk."""
        assert self.process is not None
        catalog = self.process.broker.catalog
        rows = self.disk.tables.get("producers", {})

        def known() -> int:
            return sum(len(one.producers) for one in catalog.loaded())

        if known() and rows:
            self.count(Situation.PRODUCERS_EXPIRED)
        self.timeline.set_clock(EXPIRATION_MS + LATEST_CLAIM_MS)
        late_ms = self.timeline.now + 3 * EXPIRATION_CHECK_MS
        if not self.timeline.run(late_ms, lambda: not known() and not rows):
            raise Violation(f"{known()} producers and {len(rows)} of their rows have not expired")

    def _read_again(self) -> None:
        """After one more restart a new consumer reads everything."""
        self.die("the broker is killed once more")
        self.clients = [Consumer(self, "auditor")]
        group_ids = self.transactions.group_ids
        if self.transactions.exist:
            self.clients.append(Consumer(self, "stable", read_committed=True))
        if self.has_groups:
            group_ids += ["simple", "plain", "classic", "modern"]
        if group_ids:
            self.clients.append(OffsetAuditor(self, group_ids))
        for client in self.clients:
            client.start()
        if not self.timeline.run(self.timeline.now + RECOVERY_MS, self._all_done):
            raise Violation("the auditor cannot read everything")
        assert self.process is not None
        self.process.store.check()
        self.process.kill()
