"""Brokers in processes of their own, over one schema of a PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self
from uuid import uuid4

from tests.e2e.broker_process import PATIENCE_S, Address, BrokerProcess, environment, wait_until
from tests.e2e.cluster.views import Cluster, cluster_seen_by
from tests.e2e.groups.settings import ARGUMENTS
from tests.e2e.raw_client import RawClient
from tests.oracle.kafka import free_port

SESSION_MS, HEARTBEAT_MS = 1500, 300
SETTINGS = (
    *("--set", f"broker.session.timeout.ms={SESSION_MS}"),
    *("--set", f"broker.heartbeat.interval.ms={HEARTBEAT_MS}"),
    *("--set", "offsets.topic.num.partitions=6"),
    *("--set", "transaction.state.log.num.partitions=6"),
    *("--set", "transaction.abort.timed.out.transaction.cleanup.interval.ms=100"),
    *ARGUMENTS,
)


def new_schema() -> str:
    return f"cluster_{uuid4().hex[:12]}"


def store_of(folder: Path, schema: str) -> str:
    return f"postgresql://postgres@/postgres?host={folder}&schema={schema}"


class Brokers:
    """By node id. A broker that starts again, also by itself, has the same ports."""

    def __init__(
        self,
        folder: Path,
        stores: Mapping[int, str],
        listeners: Sequence[str] = ("PLAINTEXT",),
        more: Mapping[int, Sequence[str]] | None = None,
        settings: Sequence[str] = SETTINGS,
        program: Sequence[str] = (),
    ) -> None:
        """`settings`: of all brokers; `more`: arguments of single ones."""
        self.all: dict[int, BrokerProcess] = {}
        for node_id, url in stores.items():
            arguments = [*settings, "--set", f"node.id={node_id}", *(more or {}).get(node_id, ())]
            for name in listeners:
                arguments += ["--listen", f"{name}://127.0.0.1:{free_port()}"]
            variables = environment() | {"OTTLA_STORAGE": url}
            name = folder / f"broker-{node_id}"
            self.all[node_id] = BrokerProcess(
                name, "default", arguments, program=program, variables=variables
            )

    def __getitem__(self, node_id: int) -> BrokerProcess:
        return self.all[node_id]

    def __enter__(self) -> Self:
        first, *others = self.all.values()
        try:
            # It coordinates all groups and transactions, until they are balanced.
            first.start()
            for broker in others:
                broker.process = broker.spawn()
            for broker in others:
                broker.wait_until_ready()
            self.wait_for_nodes()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_failure: object) -> None:
        self.kill()

    def kill(self) -> None:
        for broker in self.all.values():
            broker.kill()

    def terminate(self) -> None:
        """SIGTERM, one after the other."""
        for broker in self.all.values():
            code = broker.terminate()
            assert code == 0, f"SIGTERM ended it with {code}:\n{broker.log()}"

    def restart(
        self, node_id: int, end: Callable[[BrokerProcess], object] = BrokerProcess.kill
    ) -> None:
        """It starts again when the others, if there are any, have noticed its end."""
        broker = self.all[node_id]
        assert not end(broker), broker.log()
        if others := self.all.keys() - {node_id}:
            self.wait_for_nodes(*others)
        broker.start()

    def connect(self, patience_s: float = PATIENCE_S) -> RawClient:
        """To the first one."""
        return next(iter(self.all.values())).connect(patience_s)

    def log(self, last_bytes: int = 20_000) -> str:
        return "\n".join(f"{one.folder}:\n{one.log(last_bytes)}" for one in self.all.values())

    @property
    def addresses(self) -> dict[int, Address]:
        return {node_id: broker.address for node_id, broker in self.all.items()}

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.all.values())

    def bootstrap_of(self, listener: str) -> str:
        ready = [one for broker in self.all.values() for one in broker.ready["listeners"]]
        return ",".join(f"{one['host']}:{one['port']}" for one in ready if one["name"] == listener)

    def seen_by(self, node_id: int, *topics: str) -> Cluster:
        return cluster_seen_by(self.all[node_id].address, topics)

    def wait_for_nodes(self, *node_ids: int) -> None:
        """Until each of them, or each broker, sees these as the living ones."""
        alive = set(node_ids or self.all)
        wait_until(lambda: all(set(self.seen_by(one).nodes) == alive for one in alive))

    def create_topic(
        self, name: str, partitions: int = 1, configs: dict[str, str] | None = None
    ) -> None:
        with self.connect() as client:
            assert client.create_topic(name, partitions, configs) == 0
        self.wait_for_topic(name, partitions)

    def wait_for_topic(self, name: str, partitions: int) -> None:
        """Until each of them knows its leaders."""
        wait_until(
            lambda: all(
                len(self.seen_by(one, name).leaders(name)) == partitions for one in self.all
            )
        )
