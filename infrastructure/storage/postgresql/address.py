"""Address: which database and schema a `postgresql://` URL names.

Everything but `schema` is libpq's: user, password, hosts, database, sslmode, and its environment
variables and password file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

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

    @property
    def shown(self) -> str:
        """Without secrets."""
        return without_password(self.url)


def parse_address(place: str) -> Address:
    """What follows `postgresql://`. Raises UnknownStorage."""
    before, _, query = place.partition("?")
    parameters = parse_qsl(query, keep_blank_values=True)
    schemas = [value for name, value in parameters if name == "schema"]
    schema = schemas[-1] if schemas else DEFAULT_SCHEMA
    if not _SCHEMA.fullmatch(schema):
        raise UnknownStorage(f"schema={schema} is not a plain name of PostgreSQL")
    left = urlencode([one for one in parameters if one[0] != "schema"])
    return Address(f"{SCHEME}://{before}{'?' if left else ''}{left}", schema)
