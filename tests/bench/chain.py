"""A produce request from the received bytes to the answer, through everything but the sockets."""

from __future__ import annotations

import gc
import shutil
import time
from pathlib import Path

from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from interfaces.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.fakes.batches import record_batch
from tests.fakes.in_process import Client, InProcessBroker, frame

CONNECTIONS = 10
_PASSES = 100


def measure(cache: Path, quick: bool) -> dict[str, float]:
    """Microseconds of CPU a request of 1 KB, ten connections to a pass, best of several."""
    folder = cache / "chain"
    shutil.rmtree(folder, ignore_errors=True)
    brokers = {
        "memory": InProcessBroker(),
        "lmdb, flush=os": InProcessBroker(f"lmdb://{folder}/plain"),
        # Enabled, so that times are taken for every request; none fails, so none is written.
        "lmdb, flush=os, request log of errors": InProcessBroker(
            f"lmdb://{folder}/logged", log_requests="errors"
        ),
        "lmdb, flush=os, request log of all": InProcessBroker(
            f"lmdb://{folder}/all", log_requests="all", events=Unwritten()
        ),
    }
    runs = {name: Run(broker) for name, broker in brokers.items()}
    best = dict.fromkeys(runs, float("inf"))
    gc.collect()
    gc.freeze()
    for _ in range(5 if quick else 25):
        for name, run in runs.items():
            best[name] = min(best[name], run.passes(_PASSES))
    gc.unfreeze()
    for broker in brokers.values():
        broker.close()
    return {f"produce without sockets: {name}": us for name, us in best.items()}


class Unwritten:
    """An event log that does nothing with its lines: the cost of making them stays."""

    def info(self, event: str, **fields: object) -> None:
        pass

    warning = error = info


class Run:
    def __init__(self, broker: InProcessBroker) -> None:
        self._broker = broker
        self._clients = [broker.connect() for _ in range(CONNECTIONS)]
        _create_topic(broker, self._clients[0])
        self._frame = produce()

    def passes(self, count: int) -> float:
        request, clients, broker = self._frame, self._clients, self._broker
        started = time.process_time()
        for _ in range(count):
            for client in clients:
                client.receive(request)
            broker.end_pass()
            for client in clients:
                client.transport.sent.clear()
        return (time.process_time() - started) / (count * len(clients)) * 1e6


def _create_topic(broker: InProcessBroker, client: Client) -> None:
    """Metadata creates it, and answers with it the second time."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name="chain")])
    for _ in range(2):
        client.receive(frame(3, 4, b"".join(request.encode(4)), tagged=False))
        broker.end_pass()


def produce() -> bytes:
    batch = record_batch([b"x" * 1000], timestamp=int(time.time() * 1000))
    data = PartitionProduceData(index=0, records=memoryview(batch))
    topic = TopicProduceData(name="chain", partition_data=[data])
    request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])
    return frame(0, 9, b"".join(request.encode(9)), tagged=True)
