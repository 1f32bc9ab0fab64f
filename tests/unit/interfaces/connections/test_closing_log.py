from __future__ import annotations

import pytest

from application.ports.request_log import ClientInfo, Requester
from domain.security.access import Operation, ResourceType
from domain.security.principal import Principal
from interfaces.connections.closing_log import MAX_COUNTED, MINUTE_MS, OTHER_HOSTS, ClosingLog
from tests.fakes.clock import FakeClock
from tests.fakes.logs import FakeEventLog
from tests.fakes.scheduler import FakeScheduler

CLOSED = "connection_closed"
SIZE = "invalid_request_size"


class World:
    def __init__(self) -> None:
        self.events = FakeEventLog()
        self.scheduler = FakeScheduler(FakeClock())
        self.log = ClosingLog(self.events, self.scheduler)
        self._count = 0

    def reject(self, host: str = "192.0.2.7", reason: str = SIZE, detail: str = "wrong") -> None:
        self._count += 1
        client = ClientInfo(self._count, "PLAINTEXT", f"{host}:{self._count}")
        self.log.rejected(client, reason, detail)

    def deny(self, host: str = "192.0.2.7", user: str = "alice", name: str = "t") -> None:
        by = Requester(Principal("User", user), "a-client", f"{host}:4711")
        self.log.denied(by, "Metadata", 1, Operation.DESCRIBE, ResourceType.TOPIC, name)

    def denials(self) -> list[tuple[object, object, object]]:
        lines = self.events.of("authorization_denied")
        return [(one["peer"], one["denials"], one["resource"]) for one in lines]

    def counted(self) -> list[tuple[object, object, object]]:
        lines = self.events.of(CLOSED)
        return [(one["peer"], one["connections"], one["detail"]) for one in lines]


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("stops", [False, True])
def test_the_first_is_logged_at_once_and_the_others_after_a_minute(
    world: World, stops: bool
) -> None:
    """Or when the broker stops. Afterwards nothing is in memory."""
    for detail in ("first", "second", "third"):
        world.reject(detail=detail)
    assert world.counted() == [("192.0.2.7", 1, "first")]
    if stops:
        world.log.finish()
    else:
        world.scheduler.advance(MINUTE_MS)
    assert world.counted()[1:] == [("192.0.2.7", 2, "third")]
    within = [one.get("within_seconds") for one in world.events.of(CLOSED)]
    assert within == [None, None if stops else 60]
    world.scheduler.advance(MINUTE_MS)
    assert len(world.counted()) == 2
    assert (len(world.log), world.scheduler.timers) == (0, [])


def test_a_client_that_continues_has_one_event_a_minute(world: World) -> None:
    for _ in range(1200):
        world.reject()
        world.scheduler.advance(500)
    assert [count for _, count, _ in world.counted()] == [1, 119] + [120] * 9


def test_hosts_reasons_and_events_are_counted_separately(world: World) -> None:
    world.reject()
    world.reject(host="2001:db8::1")
    world.reject(reason="malformed_request")
    world.log.refused("192.0.2.7", "max_connections", "the limit")
    peers = [peer for peer, _, _ in world.counted()]
    assert peers == ["192.0.2.7", "2001:db8::1", "192.0.2.7"]
    assert world.events.of("connection_refused") == [
        {
            "reason": "max_connections",
            "peer": "192.0.2.7",
            "connections": 1,
            "detail": "the limit",
        }
    ]


def test_hosts_above_the_limit_are_counted_together(world: World) -> None:
    for number in range(MAX_COUNTED + 500):
        world.reject(host=f"host-{number}")
    assert len(world.log) == len(world.scheduler.timers) == MAX_COUNTED + 1
    assert world.counted()[-1][:2] == (OTHER_HOSTS, 1)
    world.reject(host="host-0")
    world.scheduler.advance(MINUTE_MS)
    assert [one[:2] for one in world.counted()[-2:]] == [("host-0", 1), (OTHER_HOSTS, 499)]


def test_denials_are_counted_whatever_names_the_client_chooses(world: World) -> None:
    for number in range(1000):
        world.deny(name=f"topic-{number}")
    assert (world.denials(), world.log.denials) == ([("192.0.2.7:4711", 1, "topic-0")], 1000)
    world.scheduler.advance(MINUTE_MS)
    assert world.denials()[1:] == [("192.0.2.7:4711", 999, "topic-999")]


def test_denials_above_the_limit_are_counted_together(world: World) -> None:
    """Whatever differs: the host, or the user that a token names."""
    for number in range(MAX_COUNTED + 500):
        world.deny(user=f"user-{number}")
    for number in range(500):
        world.deny(host=f"host-{number}")
    assert len(world.log) == len(world.scheduler.timers) == MAX_COUNTED + 1
    assert world.denials()[-1][:2] == (OTHER_HOSTS, 1)
    world.scheduler.advance(MINUTE_MS)
    assert world.denials()[-1][:2] == (OTHER_HOSTS, 999)
