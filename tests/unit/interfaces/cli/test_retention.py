from __future__ import annotations

from typing import Any

import pytest

from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.cli.retention import compaction_line, compaction_of, lines


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


@pytest.mark.parametrize(
    "configs, line",
    [
        (
            {},
            "when more than 50% is dirty; not the active segment (up to 1073741824 bytes or 7d)",
        ),
        (
            {"max.compaction.lag.ms": "3600000", "min.compaction.lag.ms": "60000"},
            "when more than 50% is dirty or 1h old; "
            "not the active segment (up to 1073741824 bytes or 1h), nor records younger than 1m",
        ),
    ],
)
def test_a_compacted_topic_says_what_is_compacted_when(configs: dict[str, str], line: str) -> None:
    def compaction(policy: str) -> dict[str, Any] | None:
        set_configs = {"cleanup.policy": policy, **configs}
        return compaction_of(
            {"name": name, "value": set_configs.get(name, row.format(row.default))}
            for name, row in TOPIC_CONFIGS.items()
        )

    found = compaction("compact,delete")
    assert found is not None
    assert compaction_line(found) == f"COMPACTION  {line}"
    assert compaction("delete") is None
