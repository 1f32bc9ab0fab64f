"""Principal: the identity of a client, in Kafka's notation: `User:alice`."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> Principal:
        """Raises ValueError with the expected text."""
        kind, colon, name = text.partition(":")
        if not (kind and colon):
            raise ValueError("TYPE:NAME, as in User:alice")
        return cls(kind, name)


def parse_principals(texts: str) -> tuple[Principal, ...]:
    """Separated by semicolons. Raises ValueError."""
    return tuple(Principal.parse(one.strip()) for one in texts.split(";") if one.strip())


#: Clients without authentication.
ANONYMOUS = Principal("User", "ANONYMOUS")
