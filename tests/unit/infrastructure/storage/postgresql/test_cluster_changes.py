from __future__ import annotations

import pytest

from application.ports.log_store import NotInMemory
from infrastructure.storage.postgresql.cluster_changes import PostgresClusterChanges
from infrastructure.storage.postgresql.contents import Contents


class Fixture:
    def __init__(self) -> None:
        self.contents = Contents(1)
        self.woken = self.released = 0
        self.changes = PostgresClusterChanges(self.contents, self._wake)

    def _wake(self) -> None:
        self.woken += 1

    def release(self) -> None:
        self.released += 1

    @property
    def may_change(self) -> bool:
        try:
            self.changes.check()
        except NotInMemory:
            return False
        return True


@pytest.fixture
def fixture() -> Fixture:
    return Fixture()


def test_it_waits_for_the_right_and_has_it_until_another_asks(fixture: Fixture) -> None:
    resolved: list[None] = []
    for _ in range(2):
        with pytest.raises(NotInMemory) as waiting:
            fixture.changes.check()
        waiting.value.loading.then(resolved.append)
    assert (fixture.woken, fixture.changes.wanted) == (1, True)
    fixture.changes.given(0, 1)
    assert (len(resolved), fixture.changes.wanted) == (2, False)
    assert fixture.may_change and fixture.may_change
    fixture.changes.asked(fixture.release)
    assert fixture.released == 1
    assert not fixture.may_change


def test_it_is_not_given_before_the_changes_of_others_are_known(fixture: Fixture) -> None:
    assert not fixture.may_change
    fixture.changes.given(1, 1)
    assert fixture.changes.wanted and not fixture.may_change
    fixture.contents.version = 1
    fixture.changes.given(1, 1)
    assert fixture.may_change


def test_it_is_not_released_before_it_was_used(fixture: Fixture) -> None:
    """What has waited for it runs a little later."""
    assert not fixture.may_change
    fixture.changes.given(0, 1)
    fixture.changes.asked(fixture.release)
    assert not fixture.released
    assert fixture.may_change
    assert not fixture.may_change  # the next one waits for its turn
    fixture.changes.asked(fixture.release)
    assert fixture.released == 1


def test_it_is_released_if_the_request_that_waited_for_it_has_gone(fixture: Fixture) -> None:
    assert not fixture.may_change
    fixture.changes.given(0, 1)
    for _ in range(100):
        if not fixture.released:
            fixture.changes.asked(fixture.release)
    assert fixture.released == 1


def test_it_is_not_released_while_changes_are_staged_or_under_way(fixture: Fixture) -> None:
    fixture.changes.given(0, 1)
    fixture.contents.staged.rows["topics", b"t"] = b"row"
    fixture.changes.asked(fixture.release)
    staged = fixture.contents.end_pass()
    fixture.changes.asked(fixture.release)
    assert not fixture.released
    fixture.contents.failed()
    fixture.changes.asked(fixture.release)
    assert fixture.released == 1
    assert staged.changes_shared_rows


def test_rows_of_a_partition_need_no_right(fixture: Fixture) -> None:
    fixture.changes.given(0, 1)
    fixture.contents.staged.rows["partitions", bytes(4)] = b"row"
    fixture.changes.asked(fixture.release)
    assert fixture.released == 1


def test_a_right_that_is_lost_is_waited_for_again(fixture: Fixture) -> None:
    fixture.changes.given(0, 1)
    fixture.changes.lost()
    assert not fixture.may_change
    assert fixture.woken == 1
    fixture.changes.lost()  # with the next connection, too
    assert fixture.woken == 2
