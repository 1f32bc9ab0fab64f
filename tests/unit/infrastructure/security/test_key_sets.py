"""Keys of an issuer: when they are fetched, and what waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import jwt
import pytest

from infrastructure.security.key_sets import KeySets, read_url
from tests.fakes.clock import FakeClock
from tests.fakes.logs import FakeEventLog
from tests.fakes.tokens import Issuer

FIRST, SECOND = Issuer("first"), Issuer("second")
HOUR_MS = 3_600_000


class Fetches:
    """The thread's reads, and its callbacks on the loop."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.events = FakeEventLog()
        self.answer: bytes | Exception = FIRST.key_set()
        self.reads = 0
        self._called = threading.Semaphore(0)
        self._calls: list[Callable[[], None]] = []
        self.keys = KeySets(
            "https://u:secret@issuer.test/keys",
            HOUR_MS,
            (100, 10_000),
            self.clock,
            self.events,
            self._to_loop,
            self._read,
        )

    def _read(self, url: str) -> bytes:
        self.reads += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def _to_loop(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        self._called.release()

    def finish(self) -> None:
        assert self._called.acquire(timeout=20)
        self._calls.pop(0)()

    def find(self, key_id: str | None) -> list[jwt.PyJWK | None]:
        """Filled with the key, now or later."""
        found: list[jwt.PyJWK | None] = []
        self.keys.find(key_id).then(found.append)
        return found


def test_the_first_tokens_wait_for_one_fetch() -> None:
    fetches = Fetches()
    waiting = [fetches.find("first") for _ in range(3)]
    assert waiting == [[], [], []]
    fetches.finish()
    assert [one[0] is not None and one[0].key_id for one in waiting] == ["first"] * 3
    assert len(fetches.find("first")) == 1
    assert fetches.reads == 1


def test_old_keys_are_used_while_newer_ones_are_fetched() -> None:
    fetches = Fetches()
    fetches.find("first")
    fetches.finish()
    fetches.answer = SECOND.key_set()
    fetches.clock.advance(HOUR_MS)
    assert fetches.find("first")[0] is not None
    fetches.finish()
    assert fetches.find("first") == [None]
    assert fetches.reads == 2


def test_unknown_keys_do_not_make_the_broker_fetch_all_the_time() -> None:
    fetches = Fetches()
    fetches.find("first")
    fetches.finish()
    assert [fetches.find(f"invented-{n}") for n in range(100)] == [[None]] * 100
    assert fetches.reads == 1
    fetches.clock.advance(10_000)
    fetches.answer = SECOND.key_set()
    waiting = fetches.find("second")
    fetches.finish()
    assert waiting[0] is not None
    assert fetches.reads == 2


@pytest.mark.parametrize("failure", [OSError("no route"), b"{", b'{"keys":[]}', b"\xff", b"[]"])
def test_a_failure_is_logged_once_and_tried_again_after_a_growing_time(
    failure: bytes | Exception,
) -> None:
    fetches = Fetches()
    good, fetches.answer = fetches.answer, failure
    for wait_ms in (100, 200, 400):
        waiting = fetches.find("first")
        fetches.finish()
        assert waiting == [None]
        fetches.clock.advance(wait_ms - 1)
        assert fetches.find("first") == [None]
        fetches.clock.advance(1)
    assert fetches.reads == 3
    [line] = fetches.events.of("token_keys_unavailable")
    assert "secret" not in str(line["url"])
    fetches.answer = good
    waiting = fetches.find("first")
    fetches.finish()
    assert waiting[0] is not None


def test_a_token_without_a_key_id_is_verified_with_the_only_key() -> None:
    fetches = Fetches()
    fetches.find("first")
    fetches.finish()
    assert fetches.find(None) == [None]  # there are two


@pytest.mark.parametrize("url", ["ftp://host/keys", "/etc/passwd", "", "data:,{}"])
def test_other_urls_are_not_opened(url: str) -> None:
    with pytest.raises(ValueError, match="must begin with"):
        read_url(url)
