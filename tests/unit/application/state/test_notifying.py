from __future__ import annotations

from application.state.notifying import notify_each


def test_all_are_notified_also_after_one_has_raised() -> None:
    notified: list[int] = []

    def notify(one: int) -> None:
        notified.append(one)
        if one % 2:
            raise ValueError(one)

    faults = notify_each([1, 2, 3, 4], notify)
    assert notified == [1, 2, 3, 4]
    assert [fault.args for fault in faults] == [(1,), (3,)]
