"""Address: which database and schema a `postgresql://` URL names, and where its objects are.

Everything but OWN is libpq's: user, password, hosts, database, sslmode, and its environment
variables and password file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from domain.configs.passwords import without_password
from infrastructure.storage.errors import StorageUnusable, UnknownStorage
from infrastructure.storage.objects.address import ObjectsAddress, parse_objects

SCHEME = "postgresql"
DEFAULT_SCHEMA = "ottla"
#: Parameters of the URL.
OWN = ("schema", "objects", "local.bytes", "delete.delay.ms", "commit.to")
LOCAL_BYTES = 1 << 30
#: Of commit.to.
_DATABASE, _OBJECTS = "database", "objects"
#: With "ottla " it is the channel of NOTIFY, which has up to 63.
LONGEST_SCHEMA = 57
#: What PostgreSQL takes without quotes: an operator types it in psql.
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Address:
    #: For libpq.
    url: str
    schema: str
    #: None: the store says it.
    objects: ObjectsAddress | None = None
    #: Of full tails that stay tables.
    local_bytes: int = LOCAL_BYTES
    #: Until an object that is not needed any more is deleted. None: the store says it.
    delete_delay_ms: int | None = None
    #: The batches of large commits go there.
    commits_to_objects: bool = False

    def objects_of(self, known: str | None) -> ObjectsAddress | None:
        """`known`: where the store has them, once they were named. Raises StorageUnusable."""
        named = self.objects
        if named is not None and known not in (None, named.url):
            raise StorageUnusable(f"the store has its objects in {known}, not in {named.shown}")
        where = named if known is None else parse_objects(known)
        if where is None and self.commits_to_objects:
            raise StorageUnusable("commit.to=objects needs objects=s3://bucket/prefix")
        return where

    def in_other_schema(self, schema: str) -> str:
        """What would follow `postgresql://`, with what the store remembers."""
        place = self.url.removeprefix(f"{SCHEME}://")
        objects = f"&objects={self.objects.url}" if self.objects else ""
        delay_ms = self.delete_delay_ms
        delay = "" if delay_ms is None else f"&delete.delay.ms={delay_ms}"
        return f"{place}{'&' if '?' in place else '?'}schema={schema}{objects}{delay}"

    @property
    def shown(self) -> str:
        """Without secrets."""
        return without_password(self.url)


def parse_address(place: str) -> Address:
    """What follows `postgresql://`. Raises UnknownStorage."""
    before, _, query = place.partition("?")
    own: dict[str, str] = {}
    # As they are: libpq has its own rules.
    others = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if name in OWN:
            own[name] = unquote(value)
        elif parameter:
            others.append(parameter)
    schema = own.get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise UnknownStorage(f"schema={schema} is not a plain name of PostgreSQL")
    if len(schema) > LONGEST_SCHEMA:
        raise UnknownStorage(f"schema={schema} is longer than {LONGEST_SCHEMA} characters")
    left = "&".join(others)
    objects = own.get("objects")
    return Address(
        f"{SCHEME}://{before}{'?' if left else ''}{left}",
        schema,
        None if objects is None else parse_objects(objects),
        LOCAL_BYTES if "local.bytes" not in own else _number(own, "local.bytes"),
        None if "delete.delay.ms" not in own else _number(own, "delete.delay.ms"),
        _commits_to_objects(own.get("commit.to", _DATABASE)),
    )


def _commits_to_objects(value: str) -> bool:
    if value not in (_DATABASE, _OBJECTS):
        raise UnknownStorage(f"commit.to={value} is neither {_DATABASE} nor {_OBJECTS}")
    return value == _OBJECTS


def _number(own: dict[str, str], name: str) -> int:
    value = own[name]
    if not re.fullmatch("[0-9]{1,18}", value):
        raise UnknownStorage(f"{name}={value} is not a number of {name.rpartition('.')[2]}")
    return int(value)
