"""The queries of browsing, tailing and downloading records."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import Field

from application.records.filter import HeaderFilter, RecordFilter
from application.records.plan import ScanPlan
from domain.messages.json_condition import JsonCondition, json_condition
from interfaces.rest.errors import RestError
from interfaces.rest.shapes.common import RequestModel
from interfaces.rest.timestamps import Timestamp

MAX_LIMIT = 10_000

Offset = Annotated[int, Field(ge=0, le=2**62)]
Text = Annotated[str, Field(max_length=4096)]


class FilterQuery(RequestModel):
    """Conditions that a record has to meet all; text is matched case-sensitively."""

    partition: list[int] = Field([], description="Only these partitions; may be repeated.")
    timestamp: Timestamp | None = Field(
        None, description="Records from this time on: milliseconds since 1970, or ISO 8601."
    )
    end_timestamp: Timestamp | None = Field(None, description="Records up to this time.")
    key: Text | None = Field(None, description="The whole key.")
    key_contains: Text | None = None
    value_contains: Text | None = None
    header_contains: Text | None = Field(None, description="In the name or the value of a header.")
    header: list[str] = Field([], max_length=16, description="name or name=value; may be repeated.")
    text: Text | None = Field(None, description="In the key, the value or a header.")
    where: list[Text] = Field(
        [],
        max_length=16,
        description="A condition on a field of JSON values, like $.total > 10; may be repeated.",
    )
    encoding: Literal["utf-8", "base64"] = Field(
        "utf-8", description="Of key, text and the like: base64 for binary data."
    )

    def filter(self) -> RecordFilter:
        return RecordFilter(
            start_ms=self.timestamp,
            end_ms=self.end_timestamp,
            key=self._bytes("key", self.key),
            in_key=self._bytes("key_contains", self.key_contains),
            in_value=self._bytes("value_contains", self.value_contains),
            in_headers=self._bytes("header_contains", self.header_contains),
            anywhere=self._bytes("text", self.text),
            headers=tuple(map(self._header, self.header)),
            where=tuple(map(_condition, self.where)),
        )

    def _header(self, text: str) -> HeaderFilter:
        name, separator, value = text.partition("=")
        return HeaderFilter(name.encode(), self._bytes("header", value) if separator else None)

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
    offset: Offset | None = Field(None, description="The first offset, in either direction.")
    order: Literal["oldest", "newest"] | None = Field(
        None,
        description="Which records come first. Default: oldest with an offset or a time, "
        "else newest.",
    )
    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    max_bytes: int = Field(8 * 2**20, ge=1024, le=16 * 2**20, description="Of the response, about.")
    time_budget_ms: int = Field(5000, ge=1, le=60_000, description="The page ends after this time.")
    transactions: bool = Field(
        False,
        description="Also the markers of transactions, and the producer and the transaction of "
        "each record.",
    )
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
            transactions=self.transactions,
        )


class TailQuery(FormatQuery):
    offset: Offset | None = Field(
        None, description="The first offset; default: the end of the log."
    )
    last: int = Field(
        0, ge=0, le=MAX_LIMIT, description="Also this many existing records of each partition."
    )


class DownloadQuery(FilterQuery):
    format: Literal["ndjson", "csv", "parquet"] = "ndjson"
    data_format: Literal["auto", "string", "base64"] = Field(
        "auto", description="How keys and values are shown; parquet has bytes."
    )
    offset: Offset | None = Field(None, description="The first offset.")
    limit: int | None = Field(None, ge=1)

    def plan(self, form: str) -> ScanPlan:
        return ScanPlan([], self.filter(), form, limit=self.limit, data_format=self.data_format)


def _condition(text: str) -> JsonCondition:
    try:
        return json_condition(text)
    except ValueError as wrong:
        raise RestError(422, f"where: {wrong}", 42201) from None


def from_base64(text: str) -> bytes:
    """Raises ValueError."""
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
