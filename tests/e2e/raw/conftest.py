"""Brokers with a raw listener: one that the tests share, and those of one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.broker_process import NOTHING_EXPIRES, BrokerProcess
from tests.e2e.conftest import StartBroker
from tests.e2e.raw.stream import Consumer, Producer

LISTEN = ("--raw", "localhost:0")
TOPIC = "raw"


class RawBroker:
    def __init__(self, process: BrokerProcess) -> None:
        self.process = process

    @property
    def port(self) -> int:
        return int(self.process.ready["raw"][0].rpartition(":")[2])

    @property
    def bootstrap(self) -> str:
        return self.process.bootstrap

    def producer(self) -> Producer:
        return Producer(self.port)

    def consumer(self, start: int = 0) -> Consumer:
        return Consumer(self.port, start)

    def produce(self, *records: bytes) -> list[int]:
        with self.producer() as producer:
            return producer.produce(*records)

    def restart(self) -> None:
        self.process.kill()
        self.process.start()


StartRaw = Callable[..., RawBroker]


@pytest.fixture(scope="session")
def raw_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    arguments = (*LISTEN, *NOTHING_EXPIRES, "--set", "group.initial.rebalance.delay.ms=0")
    with BrokerProcess(tmp_path_factory.mktemp("raw-broker"), arguments=arguments) as broker:
        yield broker
        assert broker.terminate() == 0, broker.log()


@pytest.fixture
def raw(raw_process: BrokerProcess) -> RawBroker:
    """Its stream has records of other tests: ask for `end`."""
    return RawBroker(raw_process)


@pytest.fixture
def end(raw: RawBroker) -> int:
    """Where the stream goes on."""
    return raw.produce(b"")[0] + 4


@pytest.fixture
def start_raw(start_broker: StartBroker) -> StartRaw:
    def start(*arguments: str, engine: str = "lmdb") -> RawBroker:
        return RawBroker(start_broker(*LISTEN, *arguments, engine=engine))

    return start
