"""Requests of commands to the REST side of an Ottla broker."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import SplitResult, urlsplit

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.terminal.reachable import reason_of

Row = dict[str, Any]


class Rest:
    def __init__(self, text: str, timeout_s: float) -> None:
        self._url = _url(text)
        self._timeout_s = timeout_s

    def get(self, path: str, field: str, *, also: int | None = None) -> list[Row]:
        """This list of the response; `also`: a status other than 200 that has it."""
        where = self._url.netloc
        tls = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
        connection = kind(where, timeout=self._timeout_s)
        try:
            connection.request("GET", self._url.path.rstrip("/") + path)
            response = connection.getresponse()
            status, body = response.status, response.read()
        except (OSError, http.client.HTTPException) as failure:
            raise CommandFailed(
                f"no REST of an Ottla broker at {where}: {reason_of(failure)} (--admin HOST:PORT)"
            ) from None
        finally:
            connection.close()
        is_expected = status in (200, also)
        try:
            shown = json.loads(body)
            found: list[Row] = shown[field] if is_expected else []
        except (ValueError, KeyError, TypeError):
            raise CommandFailed(f"{where} is not the REST side of an Ottla broker") from None
        if not is_expected:
            raise CommandFailed(f"{where}: {shown.get('message', f'status {status}')}")
        return found


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
