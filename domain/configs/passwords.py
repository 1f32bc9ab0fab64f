"""Settings as anybody may see them: a URL without the password in it."""

from __future__ import annotations

import re

MASK = "***"

# A path may have any character, and no password.
_FILE = re.compile(r"[a-z]+:///(?!/)[^@?]*$|sqlite:///")
# What stands before an @. The last one counts: a password may have one too.
_LOGIN = re.compile(r"(?P<scheme>[^@?]*?://)?(?P<login>.*)@", re.DOTALL)
# A password whose host was forgotten.
_NO_HOST = re.compile(r"(?P<scheme>[^@?]*?://[^/?:@\[]*:)(?P<password>(?!\d+(?:[/?]|$))[^/?]+)")
# A key with a % may spell anything.
_PARAMETER = re.compile(r"(?P<key>[?&][^=&]*(?:pass(?!file)|%)[^=&]*=)[^&]*", re.IGNORECASE)


def without_password(url: str) -> str:
    """The text itself where nothing is to be hidden; of what is no URL, too much rather goes."""
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
