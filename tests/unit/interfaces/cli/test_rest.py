from __future__ import annotations

import pytest

from interfaces.cli.failures import UsageError
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
