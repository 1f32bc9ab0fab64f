"""Principal: the identity of a client, in Kafka's notation: `User:alice`."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


#: Clients without authentication.
ANONYMOUS = Principal("User", "ANONYMOUS")
