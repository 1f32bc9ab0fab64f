"""`ottla demo`: a tour with a broker in a process and a folder of its own."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from functools import partial

from interfaces.cli.demo import TourFailed, tour
from interfaces.embed import Broker, BrokerNotStarted


def run() -> int:
    # To remove the folder; Ctrl-C unwinds by itself.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as folder:
        broker = Broker(data=folder, admin=False)
        try:
            tour(lambda: _start(broker), lambda: _kill(broker), partial(print, flush=True))
        except (BrokerNotStarted, TourFailed) as failure:
            print(f"ottla: {failure}", file=sys.stderr)
            return 1
        finally:
            broker.close()
    return 0


def _start(broker: Broker) -> str:
    broker.start()
    return broker.bootstrap_servers


def _kill(broker: Broker) -> None:
    os.kill(broker.pid, signal.SIGKILL)
    broker.close()
