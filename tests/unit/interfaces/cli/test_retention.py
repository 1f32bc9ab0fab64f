from __future__ import annotations

import pytest

from interfaces.cli.retention import lines


def shown(policy: str, **facts: object) -> list[str]:
    unknown = dict.fromkeys(("ms", "bytes", "oldest_timestamp", "expires_at"))
    return list(lines(unknown | {"cleanup_policy": policy, "oldest_in_future": False} | facts))


@pytest.mark.parametrize(
    "policy, limit_ms, line",
    [
        ("delete", 60_000, "RETENTION   1m"),
        ("delete", None, "RETENTION   no limit"),
        ("compact,delete", 60_000, "RETENTION   1m, and compacted"),
        ("compact", None, "RETENTION   no limit (cleanup.policy=compact)"),
        ("", None, "RETENTION   no limit (cleanup.policy is empty)"),
    ],
)
def test_the_retention_depends_on_the_cleanup_policy(
    policy: str, limit_ms: int | None, line: str
) -> None:
    assert shown(policy, ms=limit_ms) == [line]


@pytest.mark.parametrize(
    "expires, line",
    [
        (None, "OLDEST      2099 (in the future)"),
        ("2100", "OLDEST      2099, expires 2100 (in the future: retains the records behind it)"),
    ],
)
def test_a_first_record_from_the_future_retains_the_records_behind_it(
    expires: str | None, line: str
) -> None:
    found = shown("delete", oldest_timestamp="2099", oldest_in_future=True, expires_at=expires)
    assert found[1:] == [line]
