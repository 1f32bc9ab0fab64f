"""Settings of SASL that depend on each other, for one listener."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlsplit

from domain.configs.listener_security import ListenerSecurity
from domain.security.jaas import plain_users

_JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"
_UNSECURED = "sasl.oauthbearer.unsecured.tokens"
_URL_SCHEMES = ("https://", "http://", "file:///")


class WrongSasl(ValueError):
    """The name of the setting, and the expected text."""

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(f"{name}: expected {expected}")


def check_sasl(security: ListenerSecurity) -> None:
    """Raises WrongSasl; its message has no password."""
    if not security.protocol.needs_sasl:
        return
    mechanisms = cast("tuple[str, ...]", security.value("sasl.enabled.mechanisms"))
    if "PLAIN" in mechanisms:
        try:
            plain_users(cast("str | None", security.value("sasl.jaas.config", "PLAIN")))
        except ValueError as failure:
            raise WrongSasl(security.key_of("sasl.jaas.config", "PLAIN"), str(failure)) from None
    if "OAUTHBEARER" not in mechanisms or security.value(_UNSECURED):
        return
    url = cast("str | None", security.value(_JWKS_URL))
    if url is None or not _is_usable(url):
        raise WrongSasl(
            security.key_of(_JWKS_URL),
            f"the URL of a JSON Web Key Set ({', '.join(_URL_SCHEMES)}) without user and "
            f"password, or {_UNSECURED} = true",
        )


def _is_usable(url: str) -> bool:
    """User and password would be taken as part of the host, and logged in its errors."""
    try:
        parts = urlsplit(url)
        return url.startswith(_URL_SCHEMES) and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # no port
        return False
