"""Address: which database and schema a `postgresql://` URL names.

Everything but `schema` is libpq's: user, password, hosts, database, sslmode, and its environment
variables and password file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from domain.configs.passwords import without_password
from infrastructure.storage.errors import UnknownStorage

SCHEME = "postgresql"
DEFAULT_SCHEMA = "ottla"
#: What PostgreSQL takes without quotes: an operator types it in psql.
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Address:
    #: For libpq.
    url: str
    schema: str

    def in_other_schema(self, schema: str) -> str:
        """What would follow `postgresql://`."""
        place = self.url.removeprefix(f"{SCHEME}://")
        return f"{place}{'&' if '?' in place else '?'}schema={schema}"

    @property
    def shown(self) -> str:
        """Without secrets."""
        return without_password(self.url)


def parse_address(place: str) -> Address:
    """What follows `postgresql://`. Raises UnknownStorage."""
    before, _, query = place.partition("?")
    schema = DEFAULT_SCHEMA
    # As they are: libpq has its own rules.
    others = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if name == "schema":
            schema = unquote(value)
        elif parameter:
            others.append(parameter)
    if not _SCHEMA.fullmatch(schema):
        raise UnknownStorage(f"schema={schema} is not a plain name of PostgreSQL")
    left = "&".join(others)
    return Address(f"{SCHEME}://{before}{'?' if left else ''}{left}", schema)
