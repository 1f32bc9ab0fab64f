from __future__ import annotations

import pytest

from application.pending import Pending


def test_a_value_that_comes_later_is_handed_on() -> None:
    pending: Pending[int] = Pending()
    got: list[int] = []
    pending.then(got.append)
    assert not pending.resolved
    pending.resolve(4)
    assert (got, pending.resolved) == ([4], True)


def test_a_value_that_is_there_is_handed_on_at_once() -> None:
    pending: Pending[None] = Pending()
    pending.resolve(None)
    got: list[None] = []
    pending.then(got.append)
    assert got == [None]


def test_who_has_gone_is_not_called() -> None:
    pending: Pending[int] = Pending()
    got: list[int] = []
    pending.then(got.append)
    pending.abandon()
    pending.resolve(4)
    assert got == []


def test_it_is_resolved_once_and_has_one_caller() -> None:
    pending: Pending[int] = Pending()
    pending.then(lambda value: None)
    with pytest.raises(AssertionError):
        pending.then(lambda value: None)
    pending.resolve(1)
    with pytest.raises(AssertionError):
        pending.resolve(2)
