"""MarkerRepository over every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from application.ports.marker_repository import RequestedMarker
from domain.errors import StorageFailed
from domain.transactions.transaction import ProducerIdAndEpoch
from infrastructure.storage.repositories.marker_repository import StoredMarkerRepository
from infrastructure.storage.repositories.scopes import MARKERS
from tests.contract.engines import OpenStore

PRODUCER = ProducerIdAndEpoch(1 << 40, 7)
RECORDS = RequestedMarker(b"m" * 16, 9, "t", 3, "t\u00fc", PRODUCER, True)
OFFSETS = RequestedMarker(
    b"a" * 16, 300, "__consumer_offsets", 0, "tx", PRODUCER, False, ("g", "h")
)

Done = Callable[[StorageFailed | None], None]


def test_requests_stay_until_they_are_removed(lasting_store: OpenStore) -> None:
    waiting: list[Done] = []
    requests = StoredMarkerRepository(lasting_store.state, waiting.append)
    heard: list[int] = []
    requests.follow(lambda: heard.append(1))
    for one in (OFFSETS, RECORDS):
        requests.add(one)
    assert (list(requests.all()), heard) == ([], [])
    lasting_store.keep()
    for done in waiting:
        done(None)
    assert (list(requests.all()), bool(heard)) == ([RECORDS, OFFSETS], True)
    lasting_store.reopen()
    requests = StoredMarkerRepository(lasting_store.state, waiting.append)
    requests.remove(RECORDS)
    lasting_store.keep()
    assert list(requests.all()) == [OFFSETS]


def test_a_request_is_decoded_once(store: OpenStore) -> None:
    requests = StoredMarkerRepository(store.state, lambda done: None)
    requests.add(RECORDS)
    store.keep()
    [before] = requests.all()
    requests.add(OFFSETS)
    store.keep()
    assert next(iter(requests.all())) is before


def test_a_failed_commit_is_not_told(store: OpenStore) -> None:
    waiting: list[Done] = []
    requests = StoredMarkerRepository(store.state, waiting.append)
    requests.follow(lambda: pytest.fail("nothing has changed"))
    requests.add(RECORDS)
    waiting[0](StorageFailed("the disk is full"))


def test_a_damaged_row_is_a_failure_of_the_store(store: OpenStore) -> None:
    requests = StoredMarkerRepository(store.state, lambda done: None)
    store.state.put(MARKERS, b"\0\0\0\7id", b"[1]")
    store.keep()
    with pytest.raises(StorageFailed, match="requested marker"):
        list(requests.all())
