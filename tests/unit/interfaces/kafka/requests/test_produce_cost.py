"""What one more produce request in a pass costs in calls and objects.

The limits are the counts of the code, without room: who adds a call says why and raises a limit,
who removes one lowers it. Of the calls on the way in, eleven are the stations of the architecture
page, nine create the objects of the request, and the others are small readers.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from interfaces.kafka.requests.apis import PRODUCE
from tests.fakes.client import FakeClient, InProcessKafka, frame
from tests.fakes.requests import produce

ROOT = Path(__file__).parents[5]
OURS = tuple(
    f"{ROOT / name}/" for name in ("domain", "application", "infrastructure", "interfaces")
)

VERSION = 9
REQUEST = frame(produce("x" * 1000), VERSION)


@dataclass(frozen=True)
class Limits:
    #: Until the request waits for the commit; from there until its response is sent.
    calls_in: int
    calls_out: int
    #: Both, if the request arrives with others over the same connection.
    calls_pipelined: int
    #: Alive while a request waits for the commit: call, request, response and their parts.
    blocks_waiting: int


#: A repeated produce, and any other.
RECOGNISED = Limits(calls_in=22, calls_out=10, calls_pipelined=26, blocks_waiting=7)
ORDINARY = Limits(calls_in=30, calls_out=12, calls_pipelined=36, blocks_waiting=19)


@pytest.fixture(params=[RECOGNISED, ORDINARY], ids=["recognised", "ordinary"])
def limits(request: pytest.FixtureRequest) -> Limits:
    limits: Limits = request.param
    return limits


@pytest.fixture
def kafka(tmp_path: Path, limits: Limits) -> Iterator[InProcessKafka]:
    # Else the list of recent requests grows during the test.
    kafka = InProcessKafka(f"lmdb://{tmp_path}", requests_recent_max="1")
    kafka.topic("t")
    if limits is ORDINARY:
        route = kafka.shared.dispatch._routes.find(PRODUCE, VERSION)
        assert route is not None
        route.cache_request = None
    yield kafka
    kafka.close()


def ready(kafka: InProcessKafka, connections: int) -> list[FakeClient]:
    """Connections that have produced once, so that everything cached is there."""
    clients = [kafka.client() for _ in range(connections)]
    for client in clients:
        client.transport.receive(REQUEST)
    kafka.run()
    for client in clients:
        assert client.frames()
    return clients


def calls(run: Callable[[], None]) -> Counter[str]:
    """Calls of our own functions, the compiled codec included."""
    counted: Counter[str] = Counter()

    def note(called: FrameType, event: str, _: object) -> None:
        code = called.f_code
        if event == "call" and code.co_filename.startswith((*OURS, "<")):
            counted[code.co_qualname] += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counted


def test_the_calls_of_one_more_produce_request(kafka: InProcessKafka, limits: Limits) -> None:
    def receive(clients: list[FakeClient]) -> None:
        for client in clients:
            client.transport.receive(REQUEST)

    clients = ready(kafka, 2)
    into = calls(lambda: receive(clients[:1]))
    kafka.run()
    into = calls(lambda: receive(clients)) - into
    both = calls(kafka.run)
    receive(clients[:1])
    out = both - calls(kafka.run)
    assert into.total() <= limits.calls_in, sorted(into.items())
    assert out.total() <= limits.calls_out, sorted(out.items())


def test_the_calls_of_one_more_pipelined_request(kafka: InProcessKafka, limits: Limits) -> None:
    [client] = ready(kafka, 1)

    def whole(count: int) -> Callable[[], None]:
        requests = REQUEST * count

        def run() -> None:
            client.transport.receive(requests)
            kafka.run()

        return run

    one_more = calls(whole(2)) - calls(whole(1))
    assert one_more.total() <= limits.calls_pipelined, sorted(one_more.items())


def test_the_objects_of_a_request_that_waits_for_its_commit(
    kafka: InProcessKafka, limits: Limits
) -> None:
    count = 50
    [client] = ready(kafka, 1)
    requests = REQUEST * count
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        client.transport.receive(requests)
        waiting = sys.getallocatedblocks() - before
        kafka.run()
        client.frames()
    finally:
        gc.enable()
    # One for all: the sum of their bytes.
    assert waiting <= limits.blocks_waiting * count + 1


def test_a_completed_request_leaves_no_object(kafka: InProcessKafka) -> None:
    [client] = ready(kafka, 1)
    requests = REQUEST * 50
    after = []
    gc.disable()
    try:
        for _ in range(3):
            client.transport.receive(requests)
            kafka.run()
            assert client.frames()
            after.append(sys.getallocatedblocks())
    finally:
        gc.enable()
    assert after[-1] - after[-2] < 20
