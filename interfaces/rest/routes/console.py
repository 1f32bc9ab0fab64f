"""The console: its page at `/`, those of the REST API and the login, and their files.

All files are read at the first request. A path is looked up among them, so no path leads to another
file.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from interfaces.rest.errors import RestError, phrase

FOLDER = Path(__file__).parents[1] / "console"
#: Their files by path.
PAGES = {"/": "index.html", "/docs": "docs.html", "/login": "login.html"}

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

#: Scripts, styles and data come from this server only, nothing may be inline, and no script may
#: turn text into markup: the text of a record stays text.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    # The browser asks each time; the response is 304 while the file is the same.
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class StaticFile(NamedTuple):
    content: bytes
    media_type: str
    etag: str


@cache
def static_files() -> dict[str, StaticFile]:
    """All files by their path below the folder."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            content = path.read_bytes()
            etag = f'"{sha256(content).hexdigest()[:20]}"'
            name = path.relative_to(FOLDER).as_posix()
            found[name] = StaticFile(content, _TYPES[path.suffix], etag)
    return found


def router() -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    @routes.get("/docs")
    @routes.get("/login")
    async def page(request: Request) -> Response:
        return _response(request, static_files()[PAGES[request.url.path]])

    @routes.get("/console/{name:path}")
    async def file(request: Request, name: str) -> Response:
        found = static_files().get(name)
        if found is None:
            raise RestError(404, phrase(404))
        return _response(request, found)

    return routes


def _response(request: Request, file: StaticFile) -> Response:
    headers = {**HEADERS, "etag": file.etag}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
