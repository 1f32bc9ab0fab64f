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
from pathlib import Path
from types import FrameType

import pytest

from tests.fakes.in_process import Client, InProcessBroker
from tests.fakes.requests import create_topic, produce

ROOT = Path(__file__).parents[4]
OURS = tuple(
    f"{ROOT / name}/" for name in ("domain", "application", "infrastructure", "interfaces")
)

#: Until the request waits for the commit; and from there until its answer is with the transport.
CALLS_IN = 28
CALLS_OUT = 10
#: Both, where the request came with others over the same connection.
CALLS_PIPELINED = 34
#: Alive while a request waits for the commit: call, request, answer, and what they hold.
BLOCKS_WAITING = 15


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[InProcessBroker]:
    broker = InProcessBroker(f"lmdb://{tmp_path}")
    yield broker
    broker.close()


def ready(broker: InProcessBroker, connections: int) -> list[Client]:
    """Connections of which each has produced already: what is made once has been made."""
    clients = [broker.connect() for _ in range(connections)]
    create_topic(broker, clients[0], "t")
    for client in clients:
        client.receive(produce("t"))
    broker.end_pass()
    for client in clients:
        assert client.take()
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


def test_the_calls_of_one_more_produce_request(broker: InProcessBroker) -> None:
    request = produce("t")

    def receive(clients: list[Client]) -> None:
        for client in clients:
            client.receive(request)

    clients = ready(broker, 2)
    into = calls(lambda: receive(clients[:1]))
    broker.end_pass()
    into = calls(lambda: receive(clients)) - into
    both = calls(broker.end_pass)
    receive(clients[:1])
    out = both - calls(broker.end_pass)
    assert into.total() <= CALLS_IN, sorted(into.items())
    assert out.total() <= CALLS_OUT, sorted(out.items())


def test_a_pipelined_request_costs_a_connection_less(broker: InProcessBroker) -> None:
    [client] = ready(broker, 1)

    def whole(count: int) -> Callable[[], None]:
        requests = produce("t") * count

        def run() -> None:
            client.receive(requests)
            broker.end_pass()

        return run

    one_more = calls(whole(2)) - calls(whole(1))
    assert one_more.total() <= CALLS_PIPELINED, sorted(one_more.items())


def test_the_objects_of_a_request_that_waits_for_its_commit(broker: InProcessBroker) -> None:
    count = 50
    [client] = ready(broker, 1)
    requests = produce("t") * count
    gc.collect()
    gc.disable()
    try:
        before = sys.getallocatedblocks()
        client.receive(requests)
        waiting = sys.getallocatedblocks() - before
        broker.end_pass()
        client.take()
    finally:
        gc.enable()
    assert waiting <= BLOCKS_WAITING * count


def test_an_answered_request_leaves_nothing_behind(broker: InProcessBroker) -> None:
    [client] = ready(broker, 1)
    requests = produce("t") * 50
    after = []
    gc.disable()
    try:
        for _ in range(3):
            client.receive(requests)
            broker.end_pass()
            assert client.take()
            after.append(sys.getallocatedblocks())
    finally:
        gc.enable()
    assert after[-1] - after[-2] < 20
