"""What one produce request costs in calls and objects: counted, so that it is the same everywhere.

Counted is what one *more* request in a pass adds, since one commit serves them all. The limits are
what the code reaches, with no room to spare: whoever adds a call says why and raises a limit,
whoever saves one lowers it. Of the calls on the way in, eleven are the stations that the
architecture page names, nine make the objects that go along, and the rest are small readers.
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
    #: Until the request waits for the commit; and from there until its answer is sent.
    calls_in: int
    calls_out: int
    #: Both, where the request came with others over the same connection.
    calls_pipelined: int
    #: Alive while a request waits for the commit: call, request, answer, and what they hold.
    blocks_waiting: int


#: A request like the one before, which is known by how it begins; and any other.
RECOGNISED = Limits(calls_in=22, calls_out=10, calls_pipelined=26, blocks_waiting=7)
ORDINARY = Limits(calls_in=30, calls_out=12, calls_pipelined=36, blocks_waiting=19)


@pytest.fixture(params=[RECOGNISED, ORDINARY], ids=["recognised", "ordinary"])
def limits(request: pytest.FixtureRequest) -> Limits:
    limits: Limits = request.param
    return limits


@pytest.fixture
def kafka(tmp_path: Path, limits: Limits) -> Iterator[InProcessKafka]:
    # Remembered requests stay, one by one, until there are as many as shall be remembered.
    kafka = InProcessKafka(f"lmdb://{tmp_path}", requests_recent_max="1")
    kafka.topic("t")
    if limits is ORDINARY:
        route = kafka.shared.dispatch._routes.find(PRODUCE, VERSION)
        assert route is not None
        route.cache_request = None
    yield kafka
    kafka.close()


def ready(kafka: InProcessKafka, connections: int) -> list[FakeClient]:
    """Connections of which each has produced already: what is made once has been made."""
    clients = [kafka.client() for _ in range(connections)]
    for client in clients:
        client.transport.receive(REQUEST)
    kafka.run()
    for client in clients:
        assert client.frames()
    return clients


def calls(run: Callable[[], None]) -> Counter[str]:
    """Our own functions that were called, the compiled codec included."""
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


def test_a_pipelined_request_costs_a_connection_less(kafka: InProcessKafka, limits: Limits) -> None:
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
    assert waiting <= limits.blocks_waiting * count


def test_an_answered_request_leaves_nothing_behind(kafka: InProcessKafka) -> None:
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
