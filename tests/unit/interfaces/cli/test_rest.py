from __future__ import annotations

import pytest

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.rest import Rest


@pytest.mark.parametrize(
    "address",
    [
        *("", "ftp://host:1", "host:0", "host:99999", "http://[host"),
        *("http://user:secret@host:1", "user:secret@host:1", "http://user:secret@host:99999"),
    ],
)
def test_an_invalid_address_is_refused_and_a_password_not_printed(address: str) -> None:
    with pytest.raises(UsageError, match="expected HOST:PORT") as refused:
        Rest(address, 1.0)
    assert "secret" not in str(refused.value)


def test_a_password_is_sent_over_tls_or_loopback_only() -> None:
    login = {"sasl.username": "ann", "sasl.password": "PaSs-7301"}
    with pytest.raises(CommandFailed, match="has no TLS, and the password is not") as refused:
        Rest("http://192.0.2.1:8082", 0.1, login).get("/readyz", "checks")
    assert "PaSs-7301" not in str(refused.value)
