"""Many consumers at once: at the end of the stream, far behind it, and some that do not read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw.conftest import LISTEN, RawBroker
from tests.e2e.raw.stream import Producer, framed

TAILS, SLOW = 50, 20
RECORD_BYTES = 1_000
#: The history: 30 MB, ten seconds of a producer of 3 MB/s.
HISTORY = 30_000
STEP = 500
MIB_IN_KIB = 1024


def numbered(number: int) -> bytes:
    return b"%d " % number + b"x" * (RECORD_BYTES - len(b"%d " % number))


class Load:
    """Records with consecutive numbers, and where the acknowledged ones end."""

    def __init__(self, producer: Producer) -> None:
        self.producer = producer
        self.sent = 0
        self.end = 0

    def send(self, count: int) -> None:
        records = [numbered(self.sent + index) for index in range(count)]
        offsets = self.producer.produce(*records)
        self.sent += count
        self.end = offsets[-1] + len(framed(records[-1]))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawBroker, Load]]:
    with BrokerProcess(tmp_path_factory.mktemp("loaded"), arguments=LISTEN) as process:
        broker = RawBroker(process)
        with broker.producer() as producer:
            load = Load(producer)
            while load.sent < HISTORY:
                load.send(STEP)
            yield broker, load


def checked(data: bytes, first: int, count: int) -> bool:
    return data == b"".join(framed(numbered(first + index)) for index in range(count))


def test_fifty_tails_get_every_record_while_a_producer_sends(
    loaded: tuple[RawBroker, Load],
) -> None:
    broker, load = loaded
    first = load.sent
    with ExitStack() as opened:
        tails = [opened.enter_context(broker.consumer(load.end)) for _ in range(TAILS)]
        expected = b""
        for _ in range(20):
            begun = load.sent
            load.send(20)
            expected += b"".join(framed(numbered(number)) for number in range(begun, load.sent))
        for tail in tails:
            assert tail.exactly(len(expected)) == expected
    assert checked(expected, first, 400)


def test_a_reader_ten_seconds_behind_catches_up_under_load(
    loaded: tuple[RawBroker, Load],
) -> None:
    broker, load = loaded
    caught_up = threading.Event()

    def keep_sending() -> None:
        while not caught_up.is_set():
            load.send(STEP // 10)

    sending = threading.Thread(target=keep_sending)
    with broker.consumer() as reader:
        sending.start()
        read = 0
        try:
            while read < load.end:
                count = min(STEP, (load.end - read) // len(framed(numbered(0))))
                data = reader.exactly(count * (RECORD_BYTES + 4))
                assert checked(data, read // (RECORD_BYTES + 4), count)
                read += len(data)
        finally:
            caught_up.set()
            sending.join()
        begun = load.sent
        load.send(1)
        reader.exactly(begun * (RECORD_BYTES + 4) - read)
        assert reader.record() == numbered(begun)


def test_readers_that_stop_reading_have_bounded_memory_and_delay_nobody(
    loaded: tuple[RawBroker, Load],
) -> None:
    broker, load = loaded
    before_kib = broker.process.resident_anonymous_kib()
    with ExitStack() as opened:
        stopped = [opened.enter_context(broker.consumer()) for _ in range(SLOW)]
        with broker.consumer() as reader, broker.consumer(load.end) as tail:
            for number in range(100):
                load.send(1)
                assert tail.record() == numbered(load.sent - 1), number
            assert checked(reader.exactly(load.end), 0, load.sent)
        grown_kib = broker.process.resident_anonymous_kib() - before_kib
        assert grown_kib < SLOW * 1.5 * MIB_IN_KIB, "without a bound it is the stream for each"
        assert checked(stopped[0].exactly(load.end), 0, load.sent)
