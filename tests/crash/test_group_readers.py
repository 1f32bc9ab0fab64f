"""A member starts again only after errors that librdkafka cannot be expected to survive."""

from __future__ import annotations

import pytest

from tests.crash.group_readers import forgotten_after

LOGGED = "OFFSET [rdkafka#consumer-1] [thrd:main]: Offset fetch error"


@pytest.mark.parametrize(
    "where, error",
    [
        (" for 0 partition(s)", "Broker: Not coordinator"),
        (" for 0 partition(s)", "Broker: Coordinator not available"),
        (" for 0 partition(s)", "Broker: Coordinator load in progress"),
        ("", "Local: Broker transport failure"),
        ("", "Local: Timed out"),
        ("", "Local: Timed out in queue"),
    ],
)
def test_a_request_that_is_not_repeated_is_noticed(where: str, error: str) -> None:
    assert forgotten_after(f"{LOGGED}{where}: {error}") == error


@pytest.mark.parametrize(
    "line",
    [
        f"{LOGGED} for 0 partition(s): Broker: Unknown member",
        f"{LOGGED} for 0 partition(s): Broker: Group authorization failed",
        f"{LOGGED} for 0 partition(s): Broker: Unknown error",
        f"{LOGGED} for 0 partition(s): Local: Broker transport failure",
        f"{LOGGED} for 2 partition(s): Broker: Not coordinator",
        f"{LOGGED}: Broker: Not coordinator",
        f"{LOGGED}: Local: No offset stored",
        "HEARTBEAT [rdkafka#consumer-1] [thrd:main]: Broker: Not coordinator",
    ],
)
def test_any_other_error_is_not_excused(line: str) -> None:
    assert forgotten_after(line) is None
