from __future__ import annotations

import pytest

from application.ports.pending import Pending


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


def test_a_fault_is_told_apart() -> None:
    late: Pending[int] = Pending()
    told: list[object] = []
    late.then(told.append, lambda fault: told.append(("fault", fault)))
    fault = ZeroDivisionError("nobody foresaw this")
    late.fail(fault)
    late_asked: Pending[int] = Pending()
    late_asked.fail(fault)
    late_asked.then(told.append, lambda fault: told.append(("fault", fault)))
    assert told == [("fault", fault)] * 2
    assert not late.resolved and late.fault is fault
    with pytest.raises(AssertionError):
        late.resolve(1)


def test_a_fault_that_nobody_listens_for_comes_up() -> None:
    pending: Pending[int] = Pending()
    pending.then(lambda value: None)
    with pytest.raises(ZeroDivisionError):
        pending.fail(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        pending.then(lambda value: None)


def test_who_has_gone_is_told_of_no_fault() -> None:
    pending: Pending[int] = Pending()
    told: list[object] = []
    pending.then(told.append, told.append)
    pending.abandon()
    pending.fail(ZeroDivisionError())
    assert told == []
