"""What --json-schema says: judged as far as that can be done before Spark runs, which parses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interfaces.spark.query.failures import WrongOption

_TYPE = re.compile(
    "boolean|tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|decimal|dec|"
    "numeric|date|time|timestamp|timestamp_ltz|timestamp_ntz|string|char|character|varchar|binary|"
    "interval|void|variant|geometry|geography|array|map|struct",
    re.IGNORECASE,
)
#: Names and comments, in which there may be anything.
_QUOTED = re.compile(r"`(?:[^`]|``)+`|'[^']*'|\"[^\"]*\"")
_COLUMN = re.compile(r"\s*[^\s:`<>()]+(?:\s*:\s*|\s+)([A-Za-z_]+)")
_WHOLE = "struct<"


def require_schema(text: str) -> None:
    """Raises where it is plain that Spark would: it starts for ten seconds before it can say so."""
    if text.strip().lower().startswith(_WHOLE):
        return
    for column in _columns(_QUOTED.sub("quoted", text)):
        found = _COLUMN.match(column)
        if not found:
            raise _wrong(text, f"{column.strip()!r} is no column like 'id BIGINT'")
        if not _TYPE.fullmatch(found[1]):
            raise _wrong(text, f"there is no type {found[1]}")


def schema_of(text: str) -> Any:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        return StructType.fromDDL(text)
    except PySparkException as refusal:
        raise _wrong(text, str(refusal.getMessage()).strip().splitlines()[0]) from None


def _columns(text: str) -> Iterator[str]:
    """Between the commas that are in no brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _wrong(text: str, why: str) -> WrongOption:
    return WrongOption(f"--json-schema {text!r}: {why}")
