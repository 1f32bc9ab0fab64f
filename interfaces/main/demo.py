"""`ottla demo`: a tour with a broker in a process and a folder of its own."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from functools import partial

from interfaces.cli.demo import TourFailed, tour
from interfaces.cli.demo_raw import tour as raw_tour
from interfaces.embed import Broker, BrokerNotStarted


def run(raw: bool) -> int:
    # To remove the folder; Ctrl-C unwinds by itself.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as folder:
        settings = {"raw.listeners": "127.0.0.1:0"} if raw else {}
        broker = Broker(data=folder, admin=False, settings=settings)
        show = partial(print, flush=True)
        try:
            if raw:
                raw_tour(lambda: _start_raw(broker), lambda: _kill(broker), show)
            else:
                tour(lambda: _start(broker), lambda: _kill(broker), show)
        except (BrokerNotStarted, TourFailed) as failure:
            print(f"ottla: {failure}", file=sys.stderr)
            return 1
        finally:
            broker.close()
    return 0


def _start(broker: Broker) -> str:
    broker.start()
    return broker.bootstrap_servers


def _start_raw(broker: Broker) -> str:
    broker.start()
    return broker.raw_address


def _kill(broker: Broker) -> None:
    os.kill(broker.pid, signal.SIGKILL)
    broker.close()
