"""Names in paths: a consumer group may have any id, and each of them can be part of a path.

The server decodes a path before it is routed; an encoded slash would then separate two steps. So
`%2F` and `%25` are decoded only after routing. Browsers and libraries remove the steps `.`, `..`
and the empty one from a URL, however they are encoded; such a name has `%FF` before it, a byte
that no text has.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote

from starlette.convertors import Convertor, register_url_convertor

_DECODED_LATER = re.compile("%(?=2f|25|ff)", re.IGNORECASE)
_PREFIX = re.compile(r"%ff(?=\.{0,2}\Z)", re.IGNORECASE)


def in_path(name: str) -> str:
    return ("%FF" if name in ("", ".", "..") else "") + quote(name, safe="")


def name_of(step: str) -> str:
    """Of a step of a routed path."""
    prefix = _PREFIX.match(step)
    return unquote(step[prefix.end() :] if prefix else step)


def routed_path(scope: dict[str, Any]) -> str:
    return unquote(_DECODED_LATER.sub("%25", scope["raw_path"].decode("latin-1")))


class _Name(Convertor[str]):
    """Matches `{name}` in the path of a route."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return name_of(value)

    def to_string(self, value: str) -> str:
        return in_path(value)


def use_any_name() -> None:
    """Called before a route is made: each compiles its path once."""
    register_url_convertor("str", _Name())
