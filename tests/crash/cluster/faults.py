"""What happens to three brokers and their PostgreSQL: drawn by a seed."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.crash.cluster.bucket import CrashBucket
from tests.crash.cluster.load import wait_for
from tests.crash.cluster.stopping import POINTS, STOP_AT
from tests.e2e.broker_process import PATIENCE_S, BrokerProcess, wait_until
from tests.e2e.cluster.brokers import SESSION_MS, Brokers
from tests.fakes.moved_clock import library
from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import PostgresRelay
from tests.fakes.small_disk import can_mount, fill, free

SESSION_S = SESSION_MS / 1000
KILL, STOP, PAUSE, CUT, HOLD = "SIGKILL", "SIGTERM", "SIGSTOP", "connections cut", "network held"
STOP_IN_A_COMMIT = "SIGSTOP in a commit"
REQUESTS, RESPONSES = "requests lost", "responses lost"
RESTART, BACKENDS = "PostgreSQL restarts", "backends end"
PROMOTE, PROMOTE_LATE = "standby promoted", "asynchronous standby promoted"
#: Of one broker, and how often in relation to others.
OF_BROKERS = {KILL: 3, STOP: 2, PAUSE: 3, CUT: 2, HOLD: 2, REQUESTS: 1, RESPONSES: 1}
OF_BROKERS |= {STOP_IN_A_COMMIT: 2}
OF_THE_SERVER = {RESTART: 1, BACKENDS: 1}
DISK, CLOCK = "disk full", "clock moved"
#: Of a server that no other test has.
OF_ITS_OWN_SERVER = {PROMOTE: 1, PROMOTE_LATE: 1}
if can_mount():
    OF_ITS_OWN_SERVER[DISK] = 1
if library() is not None:
    OF_ITS_OWN_SERVER[CLOCK] = 1
DISK_MIB = 512
#: A broker that leads something commits within it.
COMMITS_S = 3.0
#: The clock of the server is wrong by up to some minutes: as a power of ten.
MOST_WRONG = 2.5
#: What a broker has acknowledged may be lost, if it dies, or is cut off, before it has committed
#: again what the standby lacks.
ALONE = (PROMOTE_LATE,)
#: A second one, on another broker at the same time.
TWO_AT_ONCE = 0.2

_BACKENDS = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ottla %'"
)


class Fault(NamedTuple):
    kind: str
    node_id: int
    #: Up to twice the time after which other brokers fence it.
    lasts_s: float
    pause_s: float
    #: Until each producer has got on.
    waits: bool
    #: A clock.
    wrong_s: float
    #: Of a commit.
    point: str

    def __str__(self) -> str:
        where = f" broker {self.node_id}" if self.kind in OF_BROKERS else ""
        where += f" ({self.point})" if self.kind == STOP_IN_A_COMMIT else ""
        where += f" by {self.wrong_s:.0f} s for" if self.kind == CLOCK else ""
        return f"{self.kind}{where} {self.lasts_s:.1f} s"


def schedule(
    seed: int, node_ids: tuple[int, ...], others: Mapping[str, int] | None = None
) -> Iterator[list[Fault]]:
    """Without end; the faults of a list happen at once. `others`: further ones."""
    chance = random.Random(seed)
    kinds = OF_BROKERS | OF_THE_SERVER | dict(others or {})

    def drawn(node_id: int) -> Fault:
        [kind] = chance.choices(list(kinds), list(kinds.values()))
        lasts_s = chance.uniform(0, 2.5 * SESSION_S)
        if kind in (PAUSE, STOP_IN_A_COMMIT) and chance.random() < 0.7:
            lasts_s += 1.5 * SESSION_S
        pause_s, waits = chance.uniform(0, 1.0), chance.random() < 0.5 or kind in ALONE
        wrong_s = chance.choice((-1, 1)) * 10 ** chance.uniform(0, MOST_WRONG)
        point = chance.choice(POINTS)
        return Fault(kind, node_id, lasts_s, pause_s, waits, wrong_s, point)

    while True:
        first, second = chance.sample(node_ids, 2)
        faults = [drawn(first)]
        if chance.random() < TWO_AT_ONCE and faults[0].kind not in ALONE:
            faults += [one for one in [drawn(second)] if one.kind in OF_BROKERS]
        yield faults


class Machines:
    """Applies faults, and ends them."""

    def __init__(
        self,
        server: Postgres,
        brokers: Brokers,
        relays: dict[int, PostgresRelay],
        schema: str,
        held: Callable[[], AbstractContextManager[None]],
        bucket: CrashBucket | None = None,
    ) -> None:
        """`held`: no transaction is open."""
        self.server, self._brokers, self._relays = server, brokers, relays
        self._schema, self._held, self._bucket = schema, held, bucket
        #: What brokers said that ended by themselves: a supervisor starts them again.
        self.ended: list[str] = []
        #: Points of a commit at which a broker did not stop: it has led nothing.
        self.missed: Counter[str] = Counter()
        #: Points at which one did.
        self.stopped: Counter[str] = Counter()
        self.wrong: list[str] = []
        #: The longest time for which PostgreSQL was away.
        self.away_s = 0.0

    def happen(self, fault: Fault) -> None:
        """With its end."""
        kind, broker, relay = fault.kind, self._brokers[fault.node_id], self._relays[fault.node_id]
        if kind == KILL:
            broker.kill()
            time.sleep(fault.lasts_s)
        elif kind == STOP:
            self.start_again(fault.node_id)
            code = broker.terminate()
            # A process that starts has no handler yet.
            if code not in (0, -signal.SIGTERM):
                self.wrong.append(f"SIGTERM ended broker {fault.node_id} with {code}")
            time.sleep(fault.lasts_s)
        elif kind == PAUSE:
            assert broker.process is not None
            broker.process.send_signal(signal.SIGSTOP)
            time.sleep(fault.lasts_s)
            broker.process.send_signal(signal.SIGCONT)
        elif kind == STOP_IN_A_COMMIT:
            self._stop_in_a_commit(broker, fault)
        elif kind == CUT:
            relay.refuse()
            relay.cut(is_noticed=fault.waits)
            time.sleep(fault.lasts_s)
            relay.accept()
        elif kind == HOLD:
            relay.hold()
            time.sleep(fault.lasts_s)
            relay.pass_all()
        elif kind in (REQUESTS, RESPONSES):
            relay.lose(kind == REQUESTS, kind == RESPONSES)
            time.sleep(fault.lasts_s)
            relay.cut(is_noticed=fault.waits)
            relay.pass_all()
        elif kind == RESTART:
            with self._away():
                self.server.stop("immediate")
                time.sleep(fault.lasts_s / 2)
                self.server.start()
        elif kind == BACKENDS:
            self.server.execute(_BACKENDS)
        elif kind == PROMOTE:
            self.server.wait_for_standby()
            self.server.cut_off_standby()
            time.sleep(fault.lasts_s / 2)
            if fault.waits:  # it cannot repeat anything
                broker.kill()
            self._promote()
        elif kind == PROMOTE_LATE:
            self._promote_late(fault.lasts_s)
        elif kind == DISK:
            with self._away():
                fill(self.server.disk)
                time.sleep(fault.lasts_s)
                free(self.server.disk)
                self.server.start_if_ended()
        elif kind == CLOCK:
            self.server.move_clock(fault.wrong_s)
            time.sleep(fault.lasts_s)
            if fault.waits:
                self.server.move_clock(0)
        else:
            assert self._bucket is not None
            self._bucket.happen(kind, fault.lasts_s)
        self.start_again(fault.node_id)

    @contextmanager
    def _away(self) -> Iterator[None]:
        began_s = time.monotonic()
        yield
        self.away_s = max(self.away_s, time.monotonic() - began_s)

    def _stop_in_a_commit(self, broker: BrokerProcess, fault: Fault) -> None:
        assert broker.process is not None
        file = broker.folder / STOP_AT
        file.write_text(fault.point)
        if not wait_for(lambda: is_stopped(broker.pid), COMMITS_S):
            with suppress(FileNotFoundError):  # it has taken the file, and is about to stop
                file.unlink()
                self.missed[fault.point] += 1
                return
            wait_for(lambda: is_stopped(broker.pid), COMMITS_S)
        self.stopped[fault.point] += is_stopped(broker.pid)
        time.sleep(fault.lasts_s)
        broker.process.send_signal(signal.SIGCONT)

    def _promote(self) -> None:
        self.server = self.server.promoted()
        for relay in self._relays.values():
            relay.lead_to(self.server.folder)
        self.server.start_standby()

    def _promote_late(self, lag_s: float) -> None:
        """It lacks only what brokers do not share: they commit it again, and nothing is lost."""
        for node_id in self._brokers.all:
            self.start_again(node_id)
        with self._held():
            is_same = False
            while not is_same:
                self.server.connect_standby()
                wait_until(self._is_quiet)
                before = self._version()
                self.server.commit_alone()
                self.server.cut_off_standby()
                time.sleep(lag_s)
                is_same = self._is_quiet() and self._version() == before
            self._promote()

    def _version(self) -> object:
        """Of what brokers share."""
        return self.server.execute(f"select version from {self._schema}.ottla_store")

    def _is_quiet(self) -> bool:
        """All brokers are alive, and no marker is under way."""
        fenced = f"select 1 from {self._schema}.ottla_brokers where is_fenced"
        markers = f"""select 1 from {self._schema}.ottla_rows where "table" = 'markers'"""
        return not self.server.execute(f"{fenced} union all {markers}")

    def start_again(self, node_id: int) -> None:
        """If it is not running: a broker that is fenced while PostgreSQL is away cannot start."""
        broker = self._brokers[node_id]
        assert broker.process is not None
        until = time.monotonic() + PATIENCE_S
        while broker.process.poll() is not None:
            if broker.process.returncode not in (0, -signal.SIGKILL, -signal.SIGTERM):
                last = broker.log().splitlines()[-1:]
                self.ended.append(f"broker {node_id}, {broker.process.returncode}: {last}"[:400])
            try:
                broker.start()
            except AssertionError:
                if time.monotonic() > until:
                    raise


def is_stopped(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] == "T"


def with_standby() -> Postgres:
    disk_mib = DISK_MIB if can_mount() else None
    server = Postgres(disk_mib=disk_mib, has_clock=library() is not None)
    try:
        server.start()
        server.start_standby()
    except BaseException:
        server.remove()
        raise
    return server
