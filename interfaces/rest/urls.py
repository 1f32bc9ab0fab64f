"""The addresses of things, as metadata.self and related give them: those of v3."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request

V3 = "/v3/clusters/{cluster_id}"


class Urls:
    """Of one cluster, by the name that the client used for this server."""

    __slots__ = ("cluster",)

    def __init__(self, request: Request, cluster_id: str) -> None:
        self.cluster = f"{str(request.base_url).rstrip('/')}/v3/clusters/{quote(cluster_id)}"

    def __call__(self, *path: str | int) -> str:
        return "/".join([self.cluster, *(quote(str(part), safe="") for part in path)])
