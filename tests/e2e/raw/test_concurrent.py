"""Raw and Kafka producers at once: each offset that a producer got is that of its record."""

from __future__ import annotations

import threading

import pytest

from tests.e2e.broker_process import wait_until
from tests.e2e.librdkafka import PATIENCE_S, producer
from tests.e2e.raw.conftest import TOPIC, RawBroker, StartRaw

PRODUCERS, IN_FLIGHT, ENOUGH = 4, 50, 4_000


class Load:
    """Producers that run until they are stopped or their broker is gone."""

    def __init__(self, raw: RawBroker) -> None:
        self.raw = raw
        self.stopped = threading.Event()
        #: Records of raw producers, by the offset that each got.
        self.acknowledged: dict[int, bytes] = {}
        self.delivered = 0
        self.threads = [threading.Thread(target=self._kafka)]
        for number in range(PRODUCERS):
            self.threads.append(threading.Thread(target=self._raw, args=(number,)))
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)

    def _raw(self, producer_number: int) -> None:
        sent = 0
        with self.raw.producer() as raw:
            while not self.stopped.is_set():
                numbers = range(sent, sent + IN_FLIGHT)
                records = [b"%d-%d " % (producer_number, n) * (n % 5) for n in numbers]
                try:
                    offsets = raw.produce(*records)
                except (OSError, AssertionError):
                    return
                self.acknowledged |= dict(zip(offsets, records, strict=True))
                sent += IN_FLIGHT

    def _kafka(self) -> None:
        sender = producer(self.raw.bootstrap, compression_type="lz4")
        while not self.stopped.is_set():
            for size in range(1, 101):
                sender.produce(TOPIC, b"k" * size, b"key", on_delivery=self._count)
            while sender.flush(0.1) and not self.stopped.is_set():
                pass
        sender.purge()

    def _count(self, error: object, _message: object) -> None:
        self.delivered += error is None


def streamed(raw: RawBroker, end: int) -> dict[int, bytes]:
    found, position = {}, 0
    with raw.consumer() as consumer:
        while position < end:
            found[position] = consumer.record()
            position += 4 + len(found[position])
    return found


@pytest.mark.parametrize("killed", [False, True])
def test_each_offset_is_that_of_its_record(killed: bool, start_raw: StartRaw) -> None:
    raw = start_raw()
    raw.produce(b"the topic is there")
    load = Load(raw)
    try:
        wait_until(lambda: len(load.acknowledged) > ENOUGH and load.delivered > ENOUGH / 4)
        if killed:
            raw.process.kill()
    finally:
        load.stop()
    if killed:
        raw.process.start()
    [end] = raw.produce(b"")
    found = streamed(raw, end)
    assert [one for one in load.acknowledged if found.get(one) != load.acknowledged[one]] == []
    delivered = [value for value in found.values() if value and not value.strip(b"k")]
    assert len(delivered) >= load.delivered
