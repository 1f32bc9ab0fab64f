from __future__ import annotations

import pytest

from application.ports.pending import Pending


@pytest.mark.parametrize("resolved_first", [False, True])
def test_a_value_is_handed_to_the_callback(resolved_first: bool) -> None:
    pending: Pending[None] = Pending()
    values: list[None] = []
    if resolved_first:
        pending.resolve(None)
    pending.then(values.append)
    assert pending.resolved == resolved_first
    if not resolved_first:
        pending.resolve(None)
    assert (values, pending.resolved) == ([None], True)


@pytest.mark.parametrize("fails", [False, True])
def test_an_abandoned_callback_is_not_called(fails: bool) -> None:
    pending: Pending[int] = Pending()
    called: list[object] = []
    pending.then(called.append, called.append)
    pending.abandon()
    pending.fail(ZeroDivisionError()) if fails else pending.resolve(4)
    assert called == []


def test_a_pending_is_resolved_once_and_has_one_callback() -> None:
    pending: Pending[int] = Pending()
    pending.then(lambda value: None)
    with pytest.raises(AssertionError):
        pending.then(lambda value: None)
    pending.resolve(1)
    with pytest.raises(AssertionError):
        pending.resolve(2)


def test_a_fault_has_its_own_callback() -> None:
    late: Pending[int] = Pending()
    called: list[object] = []
    late.then(called.append, lambda fault: called.append(("fault", fault)))
    fault = ZeroDivisionError("a bug")
    late.fail(fault)
    failed: Pending[int] = Pending()
    failed.fail(fault)
    failed.then(called.append, lambda fault: called.append(("fault", fault)))
    assert called == [("fault", fault)] * 2
    assert not late.resolved and late.fault is fault
    with pytest.raises(AssertionError):
        late.resolve(1)


def test_a_fault_without_a_callback_is_raised() -> None:
    pending: Pending[int] = Pending()
    pending.then(lambda value: None)
    with pytest.raises(ZeroDivisionError):
        pending.fail(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        pending.then(lambda value: None)
