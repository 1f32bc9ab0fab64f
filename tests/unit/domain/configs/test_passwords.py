from __future__ import annotations

import pytest

from domain.configs.passwords import without_password


@pytest.mark.parametrize(
    "harmless",
    [
        "", "x", "memory://", "lmdb://", "sqlite://", "sqlite:/x", "sqlite:///srv/a:b@c.db",
        "postgresql://host/db", "postgresql://me@host/db", "postgresql://me@host:5433/db",
        "postgresql://host:5433/db", "postgresql://host:5433", "postgresql://[::1]:5433/db",
        "postgresql://me@host/db?sslmode=require&passfile=/a/file", "postgresql:///db",
    ],
)  # fmt: skip
def test_a_url_without_a_password_is_not_changed(harmless: str) -> None:
    assert without_password(harmless) == harmless


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:hunter2@host:5433/db", "postgresql://me:***@host:5433/db"),
        ("postgresql://:hunter2@host/db", "postgresql://:***@host/db"),
        ("postgresql://me:hun@ter2@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:hun?ter2@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:hun/ter2@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:hunter2@host:port/db", "postgresql://me:***@host:port/db"),
        ("postgresql://host/db?a=b&password=hunter2", "postgresql://host/db?a=b&password=***"),
        ("postgresql://host/db?p%61ssword=hunter2&a=b", "postgresql://host/db?p%61ssword=***&a=b"),
        ("postgresql://host/db?SSLPassword=hunter2", "postgresql://host/db?SSLPassword=***"),
        ("postgresql://host/db?password=hunter2&user=a@b", "postgresql://host/db?password=***&user=a@b"),
        ("postgresql:///db?password=hunter2", "postgresql:///db?password=***"),
        ("postgresql://me:hunter2/db", "postgresql://me:***/db"),
        ("mysql://me:hunter2@host/db", "mysql://me:***@host/db"),
        ("postgresql:me:hunter2@host/db", "***@host/db"),
        ("me:hunter2@host/db", "***@host/db"),
    ],
)  # fmt: skip
def test_only_the_password_is_masked(url: str, shown: str) -> None:
    assert without_password(url) == shown
