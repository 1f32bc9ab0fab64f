from __future__ import annotations

from application.state.telling import tell_each


def test_everybody_is_told_also_after_one_has_raised() -> None:
    told: list[int] = []

    def tell(one: int) -> None:
        told.append(one)
        if one % 2:
            raise ValueError(one)

    faults = tell_each([1, 2, 3, 4], tell)
    assert told == [1, 2, 3, 4]
    assert [fault.args for fault in faults] == [(1,), (3,)]
