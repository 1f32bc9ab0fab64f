"""A part of the rounds over real sockets, with a broker process."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

import pytest

from tests.e2e.broker_process import BrokerProcess
from tests.e2e.raw_client import RawClient, batch, sealed_part, split_batches
from tests.fuzz.events import CONNECTIONS, Event, events_of
from tests.fuzz.judge import Judge
from tests.fuzz.round import MAX_FRAME_BYTES, MINE, SETTINGS

FRAMES = 250
ROUNDS = 4


class Line:
    """One hostile connection; responses are checked as they arrive."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.client = broker.connect()
        self.client.socket.settimeout(0.05)
        self.judge = Judge(MAX_FRAME_BYTES)
        self._received = b""
        self.closed = False

    def send(self, event: Event) -> None:
        self.judge.sent(event.data)
        try:
            for start in range(0, len(event.data), event.chunk):
                self.client.socket.sendall(event.data[start : start + event.chunk])
        except TimeoutError:
            self.close()  # the broker has stopped reading within a frame
        except OSError:
            self.closed = True
        self.look()

    def look(self) -> None:
        try:
            while piece := self.client.socket.recv(1 << 16, socket.MSG_DONTWAIT):
                self._received += piece
            self.closed = True
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True
        while len(self._received) >= 4:
            (size,) = struct.unpack_from(">i", self._received)
            if len(self._received) < 4 + size:
                return
            self.judge.received(self._received[4 : 4 + size])
            self._received = self._received[4 + size :]

    def close(self) -> None:
        self.client.socket.close()
        self.closed = True


def round_trip(client: RawClient, number: int) -> None:
    sent = batch([os.urandom(20)])
    assert client.produce(MINE, sent) == (0, number)
    found = split_batches(client.fetch(MINE, number).records)
    assert [(offset, sealed_part(one)) for offset, one in found] == [(number, sealed_part(sent))]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_healthy_client_is_not_affected(seed: int, tmp_path: Path) -> None:
    arguments = [
        part
        for name, value in SETTINGS.items()
        for part in ("--set", f"{name.replace('_', '.')}={value}")
    ]
    events = events_of(seed, FRAMES)
    with BrokerProcess(tmp_path, "lmdb", [*arguments, "--flush", "os"]) as broker:
        with broker.connect() as healthy:
            assert healthy.create_topic(MINE) == 0
            lines = [Line(broker) for _ in range(CONNECTIONS)]
            for number, event in enumerate(events):
                if lines[event.connection].closed or event.what == "gone":
                    lines[event.connection].close()
                    lines[event.connection] = Line(broker)
                if event.what == "bytes":
                    lines[event.connection].send(event)
                round_trip(healthy, number)
            for line in lines:
                line.look()
                line.close()
        log = broker.log(1 << 22)
        assert "request_failed" not in log and "Traceback" not in log, log[-4000:]
        assert broker.terminate() == 0
