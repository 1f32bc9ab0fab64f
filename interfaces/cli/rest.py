"""Requests of commands to the REST side of an Ottla broker."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any
from urllib.parse import SplitResult, urlsplit

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.addresses import Address
from interfaces.terminal.reachable import reason_of

Row = dict[str, Any]


class Rest:
    def __init__(self, text: str, timeout_s: float) -> None:
        self._url = _url(text)
        self._timeout_s = timeout_s

    def get(self, path: str, field: str, *, also: int | None = None) -> list[Row]:
        """This list of the response; `also`: a status other than 200 that has it."""
        where = self._url.netloc
        status, body = _get(self._url, path, self._timeout_s)
        is_expected = status in (200, also)
        try:
            shown = json.loads(body)
            found: list[Row] = shown[field] if is_expected else []
        except (ValueError, KeyError, TypeError):
            raise CommandFailed(f"{where} is not the REST side of an Ottla broker") from None
        if not is_expected:
            raise CommandFailed(f"{where}: {shown.get('message', f'status {status}')}")
        return found


def rest_of(broker: Address, timeout_s: float) -> str:
    """The URL of REST, from the response of a Kafka listener of Ottla to an HTTP request."""
    _, body = _get(_url(str(broker)), "/", timeout_s)
    found = re.search(rb"HTTP is served at (http://[^, ]+)", body.rstrip())
    if found is None:
        raise CommandFailed(f"{broker} names no REST of an Ottla broker (--admin HOST:PORT)")
    return found[1].decode(errors="replace")


def _get(url: SplitResult, path: str, timeout_s: float) -> tuple[int, bytes]:
    """The status and the body."""
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.netloc, timeout=timeout_s)
    try:
        connection.request("GET", url.path.rstrip("/") + path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException) as failure:
        raise CommandFailed(
            f"no REST of an Ottla broker at {url.netloc}: {reason_of(failure)} (--admin HOST:PORT)"
        ) from None
    finally:
        connection.close()


def _url(text: str) -> SplitResult:
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        is_valid = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or "@" in url.netloc:
        # A password is not printed.
        shown = text.rpartition("@")[2]
        raise UsageError(f"--admin {shown}: expected HOST:PORT or a URL without a user name")
    return url
