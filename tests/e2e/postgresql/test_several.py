"""What tools show and move of three brokers over one PostgreSQL."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import (
    NOTHING_EXPIRES,
    PATIENCE_S,
    BrokerProcess,
    environment,
    wait_until,
)
from tests.e2e.conftest import EXTERNAL
from tests.fakes.postgres import Postgres

SESSION = re.compile(
    r'^ottla_broker_session_info{id="(.*)",state="(.*)",session_id="(.*)"} 1$', re.MULTILINE
)
SETTINGS = (
    "auto.leader.rebalance.enable=false",
    "broker.session.timeout.ms=2000",
    "broker.heartbeat.interval.ms=300",
)


#: State and session of each broker.
Sessions = dict[int, tuple[str, str | None]]


class Cluster:
    def __init__(self, folder: Path, url: str, stack: ExitStack) -> None:
        self._folder, self._url, self._stack = folder, url, stack
        self.brokers: dict[int, BrokerProcess] = {}

    def start(self, node_id: int) -> BrokerProcess:
        settings = (*SETTINGS, f"node.id={node_id}")
        arguments = [word for one in settings for word in ("--set", one)]
        arguments += [*NOTHING_EXPIRES, "--admin", "127.0.0.1:0"]
        variables = environment() | {"OTTLA_STORAGE": self._url}
        broker = BrokerProcess(
            self._folder / str(node_id), "default", arguments, variables=variables
        )
        self.brokers[node_id] = self._stack.enter_context(broker)
        return broker

    @property
    def cli(self) -> Ottla:
        return Ottla(self.brokers[1].bootstrap)

    def described(self, *options: str) -> dict[str, Any]:
        shown = self.cli.run("cluster", "describe", "-o", "json", *options).out
        found: dict[str, Any] = json.loads(shown)
        return found

    def rest(self, node_id: int, path: str) -> bytes:
        url = f"http://{self.brokers[node_id].admin.bootstrap}{path}"
        with urlopen(url, timeout=PATIENCE_S) as response:
            found: bytes = response.read()
        return found

    def column(self, name: str) -> dict[int, Any]:
        return {one["id"]: one[name] for one in self.described()["brokers"]}

    def sessions(self) -> list[Sessions]:
        """As commands, REST and metrics of broker 1 have them."""
        shown = self.described("--sessions")["brokers"]
        rest = json.loads(self.rest(1, "/brokers"))["data"]
        samples = SESSION.findall(self.rest(1, "/metrics").decode())
        return [
            {one["id"]: (one["state"], one["session_id"]) for one in shown},
            {one["broker_id"]: (one["state"], one["session_id"]) for one in rest},
            {int(n): (state, session or None) for n, state, session in samples},
        ]

    def sessions_of(self, *states: str) -> Sessions:
        """Once all agree, and brokers 1, 2 ... have these states: leases of brokers that have to
        wait for a processor may be over for a moment.
        """
        found: Sessions = {}

        def agree() -> bool:
            nonlocal found
            found, *others = self.sessions()
            is_expected = [found[one][0] for one in sorted(found)] == list(states)
            return is_expected and all(one == found for one in others)

        wait_until(agree)
        return found

    def agrees(self, node_id: int) -> bool:
        """Another broker has the same sessions, with leases."""
        at_address = self.described("--admin", self.brokers[node_id].admin.bootstrap)["brokers"]
        found = {one["id"]: (one["state"], one["session_id"]) for one in at_address}
        has_leases = all(0 < (one["lease_ms"] or 0) <= 2000 for one in at_address)
        return has_leases and all(one == found for one in self.sessions())


@pytest.fixture
def cluster(tmp_path: Path, url: str) -> Iterator[Cluster]:
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    with ExitStack() as stack:
        yield Cluster(tmp_path, url, stack)


def test_a_new_broker_gets_its_share_and_a_drained_one_is_removed(cluster: Cluster) -> None:
    for node_id in (1, 2):
        cluster.start(node_id)
    cluster.cli.run("topic", "create", "orders", "-p", "6", "-r", "1")
    started = cluster.start(3).log_line("broker_started")
    assert '"brokers":"broker 3, one of 3 over this store"' in started
    assert '"synchronous_standby":false' in started
    address = cluster.brokers[3].bootstrap
    assert f"://{address} -> {address}" in started
    wait_until(lambda: len(cluster.described()["brokers"]) == 3)
    rest = json.loads(cluster.rest(2, "/brokers"))["data"]
    ports = [cluster.brokers[node_id].address.port for node_id in (1, 2, 3)]
    assert {one["broker_id"]: one["port"] for one in rest} == dict(enumerate(ports, 1))
    assert all(one["software_version"] for one in rest)
    assert b"kafka_controller_kafkacontroller_activebrokercount 3" in cluster.rest(2, "/metrics")
    before = cluster.column("leaders")
    assert before[3] == 0
    dry = cluster.cli.run("cluster", "balance", "--dry-run")
    assert cluster.column("leaders") == before
    assert dry.lines[:-1] == cluster.cli.run("cluster", "balance").lines[:-1]
    for name in ("leaders", "preferred"):
        counts = cluster.column(name).values()
        assert max(counts) - min(counts) <= 1
    assert cluster.described()["problems"] == []
    cluster.cli.run("produce", "-t", "orders", stdin=b"a\nb\nc\n")
    drained = cluster.cli.run("cluster", "drain", "2", "--remove")
    assert drained.lines[-1].endswith("broker 2 leads no partition")
    led = cluster.column("leaders")
    assert (led[2], max(led.values()) - led[1]) == (0, max(led[3] - led[1], 0))
    assert Counter(cluster.column("preferred"))[2] == 0
    unregister = ("cluster", "unregister", "2")
    assert "Broker ID 2 is alive" in cluster.cli.run(*unregister, code=1).errors
    assert cluster.brokers[2].terminate() == 0
    wait_until(lambda: cluster.column("fenced") == {1: False, 2: True, 3: False})
    assert cluster.cli.run(*unregister).lines == ["broker 2: unregistered"]
    wait_until(lambda: cluster.column("fenced") == {1: False, 3: False})
    assert cluster.described()["problems"] == []
    records = cluster.cli.run("consume", "orders", "-n", "3").lines
    assert sorted(records) == ["a", "b", "c"]


def test_a_killed_broker_is_fenced_and_its_partitions_move(cluster: Cluster) -> None:
    for node_id in (1, 2):
        cluster.start(node_id)
    cluster.cli.run("topic", "create", "orders", "-p", "4", "-r", "2")
    led = cluster.column("leaders")
    assert min(led.values()) > 0
    before = cluster.sessions_of("ALIVE", "ALIVE")
    assert len({None, *(session for _, session in before.values())}) == 3
    wait_until(lambda: cluster.agrees(2))
    assert "http_request" not in cluster.brokers[1].log()
    cluster.brokers[2].kill()
    wait_until(lambda: cluster.column("fenced") == {1: False, 2: True})
    assert cluster.sessions_of("ALIVE", "FENCED")[2] == ("FENCED", None)
    wait_until(lambda: cluster.column("leaders") == {1: sum(led.values()), 2: 0})
    text = cluster.cli.run("cluster", "describe").out
    assert "PROBLEM  broker 2 is fenced: it is not alive, or cut off from the cluster" in text
    assert "is led by 1, not by 2" in text
    assert text == cluster.cli.run("cluster", "describe", "--internal").out
    assert (
        "one replica less"
        in cluster.cli.run("cluster", "drain", "2", "--remove", "--dry-run").errors
    )
    assert "no broker but 1" in cluster.cli.run("cluster", "drain", "1", code=1).errors
    cluster.brokers[2].start()
    wait_until(lambda: cluster.column("fenced") == {1: False, 2: False})
    returned = cluster.sessions_of("ALIVE", "ALIVE")
    assert returned[2] not in (returned[1], *before.values())
    cluster.cli.run("cluster", "balance")
    counts = cluster.column("leaders").values()
    assert max(counts) - min(counts) <= 1
    assert cluster.described()["problems"] == []


@pytest.mark.long
def test_a_broker_that_hangs_is_described(cluster: Cluster) -> None:
    for node_id in (1, 2):
        cluster.start(node_id)
    cluster.cli.run("cluster", "health", "-w", "-e", "--timeout", str(PATIENCE_S))
    hanging, serving = cluster.brokers[1], cluster.brokers[2]
    assert hanging.process is not None
    hanging.process.send_signal(signal.SIGSTOP)
    cli = Ottla(f"{hanging.bootstrap},{serving.bootstrap}")

    def described() -> dict[str, Any]:
        shown = cli.run("cluster", "describe", "--sessions", "--timeout", "5", "-o", "json").out
        found: dict[str, Any] = json.loads(shown)
        return found

    wait_until(lambda: described()["brokers"][0]["state"] == "FENCED")
    found = described()
    assert [(one["id"], one["fenced"]) for one in found["brokers"]] == [(1, True), (2, False)]
    assert "broker 1 is fenced: it is not alive, or cut off from the cluster" in found["problems"]


@pytest.mark.skipif(bool(EXTERNAL), reason="starts brokers of its own")
@pytest.mark.long
def test_the_health_of_a_cluster_without_postgresql(tmp_path: Path) -> None:
    running_postgres()  # or skips
    server = Postgres()
    try:
        server.start()
        url = f"postgresql://postgres@/postgres?host={server.folder}"
        with ExitStack() as stack:
            cluster = Cluster(tmp_path, url, stack)
            cluster.start(1)
            cluster.start(2)
            cluster.cli.run("cluster", "health", "-w", "-e", "--timeout", "60")
            server.stop()
            wait_until(lambda: has_problems(cluster.cli))
            [_, problem] = cluster.cli.run("cluster", "health", code=1).lines
            assert problem == (
                "PROBLEM  committed offsets are not served: Coordinator load in progress "
                "(COORDINATOR_LOAD_IN_PROGRESS)"
            )
    finally:
        server.remove()


def has_problems(cli: Ottla) -> bool:
    with cli.start("cluster", "health") as process:
        return process.wait() == 1
