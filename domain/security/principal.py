"""Principal: who a request comes from, as Kafka writes it: `User:alice`."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


#: Of every client that did not authenticate.
ANONYMOUS = Principal("User", "ANONYMOUS")
