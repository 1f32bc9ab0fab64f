"""Every story runs on LMDB, with --long in memory and on three brokers too, or on any Kafka broker
that runs already.

OTTLA_TEST_BOOTSTRAP=host:port points the same tests at that broker (Apache Kafka, say): so anyone
can check that the tests themselves are right. Tests that start a broker of their own skip then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from tests.contract.postgres_server import running_postgres
from tests.e2e.broker_process import NOTHING_EXPIRES, Address, BrokerProcess
from tests.e2e.cluster.brokers import SETTINGS, Brokers, new_schema, store_of
from tests.e2e.raw_client import RawClient

EXTERNAL = os.environ.get("OTTLA_TEST_BOOTSTRAP", "")
#: tests/contract holds the engines to the same promises, so clients need to meet one only.
ON_EACH_ENGINE = ("lmdb", pytest.param("memory", marks=pytest.mark.long))
#: Three brokers over one PostgreSQL, with a topic for committed offsets.
THREE = "three brokers"
#: For stories that connect to one broker themselves.
ONE_BROKER = ("external",) if EXTERNAL else ON_EACH_ENGINE
ENGINES = ONE_BROKER if EXTERNAL else (*ONE_BROKER, pytest.param(THREE, marks=pytest.mark.long))


#: Files that start first, because one process would still run them when the others have ended.
SLOWEST = (
    "cluster/test_transactions.py",
    "cluster/test_failover.py",
    "admin/console/test_accessibility.py",  # and what runs in its process: see admin/conftest.py
    "admin/console/test_docs.py",
    "admin/cli/test_records.py",
    "admin/test_records.py",
    "admin/test_openapi.py",
    "admin/cli/test_cluster.py",
    "spark/test_archive.py",
    "spark/test_analyze.py",
    "spark/test_apache_kafka.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    ranks = {(here / name).resolve(strict=True): rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


class Broker(Protocol):
    """What a story needs of a broker, its own process or not."""

    @property
    def bootstrap(self) -> str: ...

    def connect(self, patience_s: float = ...) -> RawClient: ...


StartBroker = Callable[..., BrokerProcess]
StartBrokers = Callable[..., Brokers]
CreateTopic = Callable[..., str]


@pytest.fixture(scope="session")
def running_brokers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], Broker]]:
    """One broker per engine for the whole session, started at its first use."""
    running: dict[str, Broker] = {}

    def running_broker(engine: str) -> Broker:
        if engine not in running:
            running[engine] = external() if EXTERNAL else started(engine)
        return running[engine]

    def started(engine: str) -> BrokerProcess | Brokers:
        if engine == THREE:
            return three_brokers(tmp_path_factory.mktemp("brokers"), NOTHING_EXPIRES)
        broker = BrokerProcess(tmp_path_factory.mktemp(f"broker-{engine}"), engine, NOTHING_EXPIRES)
        broker.start()
        return broker

    def external() -> Address:
        host, _, port = EXTERNAL.rpartition(":")
        return Address(host, int(port))

    yield running_broker
    for broker in running.values():
        if isinstance(broker, Brokers):
            broker.terminate()
        elif isinstance(broker, BrokerProcess):
            code = broker.terminate()
            assert code == 0, f"SIGTERM ended it with {code}:\n{broker.log()}"


def three_brokers(folder: Path, settings: Sequence[str]) -> Brokers:
    """Started over one PostgreSQL."""
    stores = dict.fromkeys((1, 2, 3), store_of(running_postgres().folder, new_schema()))
    return Brokers(folder, stores, settings=settings).__enter__()


@pytest.fixture(params=ENGINES)
def broker(request: pytest.FixtureRequest, running_brokers: Callable[[str], Broker]) -> Broker:
    return alive(running_brokers(request.param))


@pytest.fixture(params=ONE_BROKER)
def one_broker(request: pytest.FixtureRequest, running_brokers: Callable[[str], Broker]) -> Broker:
    return alive(running_brokers(request.param))


def alive(broker: Broker) -> Broker:
    for one in broker.all.values() if isinstance(broker, Brokers) else (broker,):
        if isinstance(one, BrokerProcess) and one.process and one.process.poll() is not None:
            pytest.fail(f"the broker is gone, exit {one.process.returncode}:\n{one.log()}")
    return broker


@pytest.fixture
def bootstrap(broker: Broker) -> str:
    return broker.bootstrap


@pytest.fixture(params=ON_EACH_ENGINE)
def own_broker(request: pytest.FixtureRequest, start_broker: StartBroker) -> StartBroker:
    """Like start_broker, on each engine."""

    def start(*arguments: str) -> BrokerProcess:
        return start_broker(*arguments, engine=request.param)

    return start


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Starts brokers that belong to this test alone: settings, restarts, violence."""
    if EXTERNAL:
        pytest.skip("starts a broker of its own; OTTLA_TEST_BOOTSTRAP names another")
    started: list[BrokerProcess] = []

    def start(*arguments: str, engine: str = "lmdb") -> BrokerProcess:
        broker = BrokerProcess(tmp_path / f"broker-{len(started)}", engine, arguments)
        started.append(broker)
        broker.start()
        return broker

    yield start
    for broker in started:
        broker.kill()


@pytest.fixture(params=("lmdb", pytest.param(THREE, marks=pytest.mark.long)))
def start_brokers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StartBrokers]:
    """Like start_broker: one broker on LMDB, or three over PostgreSQL with short sessions."""
    if EXTERNAL:
        pytest.skip("starts brokers of its own; OTTLA_TEST_BOOTSTRAP names another")
    started: list[Brokers] = []

    def start(*arguments: str) -> Brokers:
        if request.param == THREE:
            started.append(three_brokers(tmp_path, [*SETTINGS, *arguments]))
        else:
            one = Brokers(tmp_path, {1: f"lmdb://{tmp_path / 'data'}"}, settings=arguments)
            started.append(one.__enter__())
        return started[-1]

    yield start
    for brokers in started:
        print(brokers.log())  # which pytest shows if the story has failed
        brokers.kill()


def unused_topic_name() -> str:
    return f"story-{uuid4().hex[:12]}"


def new_topic(broker: Broker, partitions: int = 1, **configs: str) -> str:
    """A topic that can be used; the config max.message.bytes is spelt max__message__bytes."""
    name = unused_topic_name()
    dotted = {key.replace("__", "."): value for key, value in configs.items()}
    if isinstance(broker, Brokers):
        broker.create_topic(name, partitions, dotted)
        return name
    with broker.connect() as client:
        assert client.create_topic(name, partitions, dotted) == 0
        for _ in range(2_000):  # Apache Kafka responds before its brokers know the topic
            if client.usable_partitions(name, partitions) == partitions:
                return name
    pytest.fail(f"{name} has no leaders")


@pytest.fixture
def create_topic(broker: Broker) -> CreateTopic:
    def create(partitions: int = 1, **configs: str) -> str:
        return new_topic(broker, partitions, **configs)

    return create


@pytest.fixture
def topic(create_topic: CreateTopic) -> str:
    return create_topic()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed story shows the log of the broker."""
    report = yield
    used: Any = getattr(item, "funcargs", {}).get("broker")
    if report.failed and isinstance(used, BrokerProcess | Brokers):
        report.sections.append(("log of the broker", used.log(6_000)))
    return report
