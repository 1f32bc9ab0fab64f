"""URLs of resources for metadata.self and related: always those of v3."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request

from interfaces.rest.names import in_path, name_of

V3 = "/v3/clusters/{cluster_id}"


class Urls:
    """URLs of one cluster, with the host that the client used."""

    def __init__(self, request: Request, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.clusters = f"{str(request.base_url).rstrip('/')}/v3/clusters"
        self.cluster = f"{self.clusters}/{quote(cluster_id, safe='')}"

    def of(self, request: Request) -> str:
        """The URL of a request's path, also of the short one."""
        steps = request.scope["path"].split("/")[1:]
        if steps[0] == "v3":
            steps = steps[3:]
        if steps[0] == "groups":
            steps[0] = "consumer-groups"
        return self(*map(name_of, steps))

    def __call__(self, *path: str | int) -> str:
        return "/".join([self.cluster, *(in_path(str(part)) for part in path)])
