from __future__ import annotations

import pytest

from infrastructure.storage.postgresql import retry_pause
from infrastructure.storage.postgresql.retry_pause import LONGEST_S, RetryPause


def test_pauses_grow_up_to_the_longest_however_often_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 0.0
    monkeypatch.setattr(retry_pause, "monotonic", lambda: now_s)
    pause = RetryPause(10.0)
    assert pause.is_over
    for pause_s in (10.0, 20.0, 40.0):
        pause.failed()
        now_s += pause_s - 1
        assert not pause.is_over
        now_s += 1
        assert pause.is_over
    for _ in range(2000):  # a bucket may be away for weeks
        pause.failed()
    now_s += LONGEST_S - 1
    assert not pause.is_over
    now_s += 1
    assert pause.is_over
    pause.succeeded()
    pause.failed()
    now_s += 10
    assert pause.is_over
