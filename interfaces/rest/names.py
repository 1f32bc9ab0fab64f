"""Names in paths: any name can stand there, also one that no address can hold as it is.

A path is decoded before it is routed, and then an encoded slash looks like one that parts. So a
path is routed with something else in the place of encoded slashes, and who asked for a name from it
gets the slashes back. `.`, `..` and the empty name are no steps that browsers and libraries leave
in an address, however they are written; they are told with the byte 0xFF before them, which no text
has, and which is nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote, unquote

from starlette.convertors import Convertor, register_url_convertor

#: No bytes of UTF-8 are decoded to them.
_SLASH, _NOTHING = "\udc2f", "\udcff"
_MARKS = re.compile(rb"%2f|(?<=/)%ff(?=(?:\.|%2e){0,2}(?:/|$))", re.IGNORECASE)
_TOLD = {b"%2f": _SLASH, b"%ff": _NOTHING}
#: Nowhere in an address but with the byte before them.
_UNTOLD = frozenset({"", ".", ".."})

App = Callable[[Any, Any, Any], Awaitable[None]]


def in_path(name: str) -> str:
    return ("%FF" if name in _UNTOLD else "") + quote(name, safe="")


class NamesInPaths:
    """Around an app whose routes take a `{name}`."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = scope.get("raw_path")
        if raw is not None and _MARKS.search(raw):
            scope["path"] = _routed(raw)
        await self._app(scope, receive, send)


def _routed(raw: bytes) -> str:
    path, end = "", 0
    for mark in _MARKS.finditer(raw):
        path += unquote(raw[end : mark.start()].decode("latin-1")) + _TOLD[mark[0].lower()]
        end = mark.end()
    return path + unquote(raw[end:].decode("latin-1"))


class _Name(Convertor[str]):
    """What `{name}` in the path of a route takes."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return value.replace(_SLASH, "/").replace(_NOTHING, "")

    def to_string(self, value: str) -> str:
        return in_path(value)


def take_any_name() -> None:
    """Before a route is made: each compiles its path once."""
    register_url_convertor("str", _Name())
