"""Refuses requests of version 2 of Confluent's REST API, and names the path of version 3."""

from __future__ import annotations

from interfaces.rest.errors import RestError
from interfaces.rest.urls import V3

#: As in application/vnd.kafka.json.v2+json.
_TYPE = "application/vnd.kafka."


def refuse_v2(method: str, path: str, headers: dict[str, str]) -> None:
    """Raises RestError."""
    has_prefix = path.startswith("/v2/")
    if has_prefix:
        path = path.removeprefix("/v2")
    # OPTIONS may have the path *.
    first, *names = path.removeprefix("/").split("/")
    if first == "consumers" and names:
        instead = "GET", "/topics/{topic_name}/records"
    elif not has_prefix and not any(
        _TYPE in headers.get(name, "").lower() for name in ("content-type", "accept")
    ):
        return
    elif method == "POST" and first == "topics" and names:
        instead = "POST", f"/topics/{names[0]}/records"
    else:
        instead = method, path
    raise RestError(
        501,
        "version 2 of Confluent's REST API is not served; use application/json and version 3: "
        f"{instead[0]} {V3}{instead[1]}",
    )
