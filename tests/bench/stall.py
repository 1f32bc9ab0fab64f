"""The longest wait of other clients during a load: pings beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

from tests.bench.brokers import Broker
from tests.bench.client_process import PATIENCE_S
from tests.bench.filled import Topic, filled
from tests.bench.gauges import Figures
from tests.bench.raw_loads import FETCH, PRODUCE, Rawbench
from tests.bench.runs import Load, LoadFailed

_SHAPES = [PRODUCE[2], PRODUCE[6]]
TOPIC = Topic("pinged", 1, 16_000)


def loads(rawbench: Rawbench, topic: Topic, seconds: float) -> Iterator[Load]:
    def fill(broker: Broker) -> None:
        filled(broker, TOPIC, rawbench)
        filled(broker, topic, rawbench)

    for shape in _SHAPES:
        produce = partial(rawbench.produce, shape=shape, seconds=seconds, warm_s=0)
        yield Load(f"pings beside produce, {shape.name}", partial(pinged, run=produce), fill)
    size = FETCH["1 MB responses"]
    fetch = partial(rawbench.fetch, topic=topic.name, max_bytes=size, seconds=seconds, warm_s=0)
    yield Load("pings beside fetch, 1 MB responses", partial(pinged, run=fetch), fill)


def pinged(
    broker: Broker, run: Callable[[Broker], Figures], topic: str = TOPIC.name, *produce: str
) -> Figures:
    ping = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.clients.ping", broker.address, topic, *produce],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        load = run(broker)
        output, complaint = ping.communicate("", timeout=PATIENCE_S)
    finally:
        ping.kill()
        ping.wait()
    if ping.returncode:
        raise LoadFailed(complaint[-2000:])
    pings: Figures = json.loads(output)
    return load | pings
