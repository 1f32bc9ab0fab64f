"""URLs of resources for metadata.self and related: always those of v3."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request

from interfaces.rest.names import in_path

V3 = "/v3/clusters/{cluster_id}"


class Urls:
    """URLs of one cluster, with the host that the client used."""

    __slots__ = ("cluster", "cluster_id", "clusters")

    def __init__(self, request: Request, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.clusters = f"{str(request.base_url).rstrip('/')}/v3/clusters"
        self.cluster = f"{self.clusters}/{quote(cluster_id, safe='')}"

    def __call__(self, *path: str | int) -> str:
        return "/".join([self.cluster, *(in_path(str(part)) for part in path)])
