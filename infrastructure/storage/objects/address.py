"""Address: which bucket of S3 an `s3://` URL names, and the prefix of all names in it.

Endpoint, region and credentials are in the usual AWS variables, and never in the URL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.configs.passwords import without_password
from infrastructure.storage.errors import UnknownStorage

SCHEME = "s3"
_BUCKET = r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}"
#: Characters that need no escape, in any part of the protocol.
_PART = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._=-]+"
_URL = re.compile(rf"{SCHEME}://(?P<bucket>{_BUCKET})(?:/+(?P<prefix>{_PART}(?:/{_PART})*))?/*")


@dataclass(frozen=True)
class ObjectsAddress:
    bucket: str
    #: Without slashes at its ends; empty: names are at the top of the bucket.
    prefix: str = ""

    @property
    def url(self) -> str:
        return f"{SCHEME}://{self.bucket}{'/' if self.prefix else ''}{self.prefix}"

    @property
    def shown(self) -> str:
        """The URL has no secrets."""
        return self.url


def parse_objects(url: str) -> ObjectsAddress:
    """Raises UnknownStorage."""
    found = _URL.fullmatch(url)
    if found is None:
        raise UnknownStorage(
            f"objects={without_password(url)!r} is not s3://bucket/prefix with plain names "
            "(letters, digits, . _ = -); credentials are AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY"
        )
    return ObjectsAddress(found["bucket"], found["prefix"] or "")
