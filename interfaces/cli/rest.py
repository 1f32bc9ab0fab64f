"""Requests of commands to the REST side of an Ottla broker, as the user of the client options."""

from __future__ import annotations

import http.client
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.addresses import is_loopback
from interfaces.terminal.profiles import admin_address
from interfaces.terminal.reachable import reason_of
from interfaces.terminal.tls import tls_context

if TYPE_CHECKING:
    import argparse

    from interfaces.cli.client import Clients

_LOGIN = "-X sasl.username=... -X sasl.password=..., or --command-config FILE"

Row = dict[str, Any]


class Rest:
    def __init__(
        self, text: str, timeout_s: float, options: Mapping[str, str] | None = None
    ) -> None:
        """`options`: of librdkafka, whose user, password and trusted authority are for REST, too.

        An address without a scheme has TLS if the server speaks it.
        """
        self._url = _url(text)
        self._timeout_s = timeout_s
        self._options = options or {}
        self._login = (
            self._options.get("sasl.username", ""),
            self._options.get("sasl.password", ""),
        )
        host = str(self._url.hostname)
        self._has_tls = self._url.scheme == "https" or (not self._url.scheme and self._needs_tls())
        self._is_loopback = is_loopback(host)

    def get(self, path: str, field: str, *, also: int | None = None) -> list[Row]:
        """This list of the response; `also`: a status other than 200 that has it."""
        where = self._url.netloc
        try:
            connection = self._connection()
            try:
                connection.request(
                    "GET", self._url.path.rstrip("/") + path, headers=self._headers()
                )
                response = connection.getresponse()
                status, body = response.status, response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as failure:
            raise CommandFailed(
                f"no REST of an Ottla broker at {where}: {reason_of(failure)} (--admin HOST:PORT)"
            ) from None
        is_expected = status in (200, also)
        try:
            shown = json.loads(body)
            found: list[Row] = shown[field] if is_expected else []
        except (ValueError, KeyError, TypeError):
            raise CommandFailed(f"{where} is not the REST side of an Ottla broker") from None
        if not is_expected:
            hint = f" ({_LOGIN})" if status == 401 else ""
            raise CommandFailed(f"{where}: {shown.get('message', f'status {status}')}{hint}")
        return found

    def _needs_tls(self) -> bool:
        """A broker with TLS responds so to plain HTTP, and does not log it."""
        plain = http.client.HTTPConnection(self._url.netloc, timeout=self._timeout_s)
        try:
            plain.request("HEAD", "/healthz")
            return plain.getresponse().status == http.HTTPStatus.UPGRADE_REQUIRED
        except (OSError, http.client.HTTPException):
            return False  # the request itself says why
        finally:
            plain.close()

    def _connection(self) -> http.client.HTTPConnection:
        if not self._has_tls:
            return http.client.HTTPConnection(self._url.netloc, timeout=self._timeout_s)
        options = self._options
        if self._is_loopback and not all(self._login) and "ssl.ca.location" not in options:
            # For health checks in a container: nothing secret is sent, and nobody is in between.
            options = {"enable.ssl.certificate.verification": "false"}
        context = tls_context(options)
        return http.client.HTTPSConnection(
            self._url.netloc, timeout=self._timeout_s, context=context
        )

    def _headers(self) -> dict[str, str]:
        if not all(self._login):
            return {}
        is_plain = not self._has_tls and not self._is_loopback
        if is_plain and self._options.get("security.protocol", "").upper() != "SASL_PLAINTEXT":
            raise CommandFailed(
                f"{self._url.netloc} has no TLS, and the password is not sent without it "
                "(--admin https://HOST:PORT, or -X security.protocol=SASL_PLAINTEXT)"
            )
        return {"Authorization": f"Basic {b64encode(':'.join(self._login).encode()).decode()}"}


def rest_of(parsed: argparse.Namespace, clients: Clients) -> Rest:
    """At --admin, else the address of the profile, else the one that the broker names."""
    try:
        address = admin_address(parsed)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    return Rest(address or _named_by(clients), clients.timeout_s, clients.options)


def _named_by(clients: Clients) -> str:
    from interfaces.cli.probe.talking import rest_url

    clients.check_reachable()
    addresses = clients.addresses()
    for address in addresses:
        url = rest_url(address, clients.timeout_s / len(addresses))
        if url is not None:
            return url
    raise CommandFailed(f"{clients.servers} names no REST of an Ottla broker (--admin HOST:PORT)")


def _url(text: str) -> SplitResult:
    """Without a scheme if the text has none."""
    try:
        url = urlsplit(text if "://" in text else f"//{text}")
        is_valid = url.scheme in ("http", "https", "") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or "@" in url.netloc:
        # A password is not printed.
        shown = text.rpartition("@")[2]
        raise UsageError(f"--admin {shown}: expected HOST:PORT or a URL without a user name")
    return url
