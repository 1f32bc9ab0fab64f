"""URLs of settings without their password, for logs and responses."""

from __future__ import annotations

import re

MASK = "***"

# A path may have any character, and no password.
_FILE = re.compile(r"[a-z]+:///(?!/)[^@?]*$|sqlite:///")
# User and password, up to the last @: a password may contain one.
_LOGIN = re.compile(r"(?P<scheme>[^@?]*?://)?(?P<login>.*)@", re.DOTALL)
# A password without a host after it.
_NO_HOST = re.compile(r"(?P<scheme>[^@?]*?://[^/?:@\[]*:)(?P<password>(?!\d+(?:[/?]|$))[^/?]+)")
# An escaped key (%70assword) may be a password, too.
_PARAMETER = re.compile(r"(?P<key>[?&][^=&]*(?:pass(?!file)|%)[^=&]*=)[^&]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """Returns the text itself if it has no password; of a malformed URL, hides too much."""
    if _FILE.match(url):
        return url
    url = _LOGIN.sub(_login, url, count=1) if "@" in url else _NO_HOST.sub(_no_host, url, count=1)
    return _PARAMETER.sub(lambda found: found["key"] + MASK, url)


def _login(found: re.Match[str]) -> str:
    if found["scheme"] is None:
        return f"{MASK}@"
    user, has_password, _ = found["login"].partition(":")
    return f"{found['scheme']}{user}{':' + MASK if has_password else ''}@"


def _no_host(found: re.Match[str]) -> str:
    return found["scheme"] + MASK
