from __future__ import annotations

from functools import partial

from domain.configs.broker import BrokerConfig
from interfaces.connections.handshakes import Handshakes
from tests.fakes.clock import FakeClock
from tests.fakes.scheduler import FakeScheduler


def made(limit: int = 3, per_ip: int = 2) -> Handshakes:
    config = BrokerConfig(
        {"ssl.handshakes.max": str(limit), "ssl.handshakes.max.per.ip": str(per_ip)}
    )
    return Handshakes(config, FakeScheduler(FakeClock()))


def test_addresses_with_room_are_served_before_others() -> None:
    handshakes, begun = made(), list[str]()
    for number in range(4):
        handshakes.take("a", partial(begun.append, f"a{number}"))
    handshakes.take("b", partial(begun.append, "b0"))
    handshakes.take("b", partial(begun.append, "b1"))
    assert begun == ["a0", "a1", "b0"]
    handshakes.give("b")
    assert begun[3:] == ["b1"]  # a has no room
    handshakes.give("a")
    assert begun[4:] == ["a2"]
    assert (handshakes.count, handshakes.waiting) == (3, 1)


def test_addresses_take_turns() -> None:
    handshakes, begun = made(limit=1, per_ip=1), list[str]()
    for name in ("a0", "a1", "a2", "b0", "c0"):
        handshakes.take(name[0], partial(begun.append, name))
    for _ in range(4):
        handshakes.give(begun[-1][0])
    assert begun == ["a0", "a1", "b0", "c0", "a2"]


def test_one_that_waits_may_be_forgotten() -> None:
    handshakes, begun = made(limit=1), list[str]()
    handshakes.take("a", partial(begun.append, "a"))
    left = partial(begun.append, "left")
    handshakes.take("b", left)
    handshakes.forget("b", left)
    handshakes.give("a")
    assert (begun, handshakes.count, handshakes.waiting) == (["a"], 0, 0)


def test_steps_run_one_in_each_pass() -> None:
    scheduler = FakeScheduler(FakeClock())
    handshakes, done = Handshakes(BrokerConfig(), scheduler), list[int]()
    ran = [handshakes.step(partial(done.append, number)) for number in range(3)]
    assert (ran, done) == ([True, False, False], [0])
    scheduler.run_pass()
    assert done == [0, 1]
    scheduler.run()
    assert done == [0, 1, 2]
    assert handshakes.step(partial(done.append, 3))
