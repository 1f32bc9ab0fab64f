"""The queries of browsing, tailing and downloading records."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from application.records.filter import HeaderFilter, RecordFilter
from application.records.plan import ScanPlan
from interfaces.rest.errors import RestError
from interfaces.rest.shapes.common import RequestModel

MAX_OFFSET = 2**62
#: The end of the year 9999: a later one is a mistake.
MAX_TIMESTAMP = 253_402_300_799_999
MAX_LIMIT = 10_000
MAX_TEXT = 4096

Offset = Field(None, ge=0, le=MAX_OFFSET)
Text = Field(None, max_length=MAX_TEXT)


class FilterQuery(RequestModel):
    """Conditions that a record has to meet all; text is matched case-sensitively."""

    partition: list[int] = Field([], description="Only these partitions; may be repeated.")
    timestamp: str | None = Field(
        None, description="Records from this time on: milliseconds since 1970, or ISO 8601."
    )
    end_timestamp: str | None = Field(None, description="Records up to this time.")
    key: str | None = Field(None, max_length=MAX_TEXT, description="The whole key.")
    key_contains: str | None = Text
    value_contains: str | None = Text
    header_contains: str | None = Field(
        None, max_length=MAX_TEXT, description="In the name or the value of a header."
    )
    header: list[str] = Field([], max_length=16, description="name or name=value; may be repeated.")
    text: str | None = Field(
        None, max_length=MAX_TEXT, description="In the key, the value or a header."
    )
    encoding: Literal["utf-8", "base64"] = Field(
        "utf-8", description="Of key, text and the like: base64 for binary data."
    )

    def filter(self) -> RecordFilter:
        return RecordFilter(
            start_ms=moment("timestamp", self.timestamp),
            end_ms=moment("end_timestamp", self.end_timestamp),
            key=self._bytes("key", self.key),
            in_key=self._bytes("key_contains", self.key_contains),
            in_value=self._bytes("value_contains", self.value_contains),
            in_headers=self._bytes("header_contains", self.header_contains),
            anywhere=self._bytes("text", self.text),
            headers=tuple(map(self._header, self.header)),
        )

    def _header(self, text: str) -> HeaderFilter:
        name, separator, value = text.partition("=")
        wanted = self._bytes("header", value) if separator else None
        return HeaderFilter(name.encode(), wanted)

    def _bytes(self, name: str, text: str | None) -> bytes | None:
        if text is None:
            return None
        try:
            return from_base64(text) if self.encoding == "base64" else text.encode()
        except ValueError:
            raise RestError(422, f"{name}: not {self.encoding}", 42201) from None


class FormatQuery(FilterQuery):
    format: Literal["auto", "string", "base64"] = Field(
        "auto", description="How keys and values are shown."
    )


class RecordsQuery(FormatQuery):
    offset: int | None = Field(
        None, ge=0, le=MAX_OFFSET, description="The first offset, in either direction."
    )
    order: Literal["oldest", "newest"] | None = Field(
        None,
        description="Which records come first. Default: oldest with an offset or a time, "
        "else newest.",
    )
    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    max_bytes: int = Field(8 * 2**20, ge=1024, le=16 * 2**20, description="Of the response, about.")
    time_budget_ms: int = Field(5000, ge=1, le=60_000, description="The page ends after this time.")
    cursor: str | None = Field(
        None, description="next_cursor of the previous page; the other parameters must be the same."
    )

    @property
    def newest_first(self) -> bool:
        if self.order is None:
            return self.offset is None and self.timestamp is None
        return self.order == "newest"

    def plan(self) -> ScanPlan:
        return ScanPlan(
            [],
            self.filter(),
            newest_first=self.newest_first,
            limit=self.limit,
            max_bytes=self.max_bytes,
            budget_ms=self.time_budget_ms,
            data_format=self.format,
        )


class TailQuery(FormatQuery):
    offset: int | None = Field(
        None, ge=0, le=MAX_OFFSET, description="The first offset; default: the end of the log."
    )
    last: int = Field(
        0, ge=0, le=MAX_LIMIT, description="Also this many existing records of each partition."
    )


class DownloadQuery(FilterQuery):
    format: Literal["ndjson", "csv", "parquet"] = "ndjson"
    data_format: Literal["auto", "string", "base64"] = Field(
        "auto", description="How keys and values are shown; parquet has bytes."
    )
    offset: int | None = Field(None, ge=0, le=MAX_OFFSET, description="The first offset.")
    limit: int | None = Field(None, ge=1)

    def plan(self, form: str) -> ScanPlan:
        return ScanPlan([], self.filter(), form, limit=self.limit, data_format=self.data_format)


def moment(name: str, text: str | None) -> int | None:
    """Milliseconds since 1970; raises RestError."""
    if text is None:
        return None
    try:
        if text.isascii() and text.isdigit():
            milliseconds = int(text)
        else:
            # In a URL a plus is a space.
            parsed = datetime.fromisoformat(text.replace(" ", "+", 1) if "T" in text else text)
            if parsed.tzinfo is None:
                parsed = parsed.replace(tzinfo=UTC)
            milliseconds = int(parsed.timestamp() * 1000)
    except (ValueError, OverflowError):
        milliseconds = -1
    if not 0 <= milliseconds <= MAX_TIMESTAMP:
        words = "expected milliseconds since 1970, or a time as 2026-11-22T05:00:00Z"
        raise RestError(422, f"{name}: {words}", 42201)
    return milliseconds


def from_base64(text: str) -> bytes:
    """Raises ValueError."""
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
