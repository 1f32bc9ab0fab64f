"""Parquet: records as a table of their bytes, a row group at a time.

pyarrow is an extra, and large: it is imported by worker processes only.
"""

from __future__ import annotations

from typing import Any

from application.records.rendering import size_of
from application.records.scan import FoundRecord

ROWS_PER_GROUP = 50_000
GROUP_BYTES = 16 * 1024 * 1024
#: Overhead of a row, about.
ROW_BYTES = 64


class ParquetWriter:
    """As `application.records.writing.LineWriter`."""

    def __init__(self) -> None:
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        header = pyarrow.struct([("name", pyarrow.string()), ("value", pyarrow.binary())])
        self._schema = pyarrow.schema(
            [
                ("partition", pyarrow.int32()),
                ("offset", pyarrow.int64()),
                ("timestamp", pyarrow.timestamp("ms", "UTC")),
                ("timestamp_type", pyarrow.string()),
                ("key", pyarrow.binary()),
                ("value", pyarrow.binary()),
                ("headers", pyarrow.list_(header)),
            ]
        )
        self._sink = _Sink()
        self._writer = pyarrow.parquet.ParquetWriter(
            pyarrow.PythonFile(self._sink, "w"), self._schema, compression="zstd"
        )
        self._rows: list[tuple[Any, ...]] = []
        self._rows_bytes = 0

    @property
    def waiting_bytes(self) -> int:
        return self._sink.size_bytes

    def take(self, found: FoundRecord) -> int:
        message = found.message
        self._rows.append(
            (
                found.range.index,
                message.offset,
                message.timestamp,
                "log_append_time" if found.log_append_time else "create_time",
                message.key,
                message.value,
                [
                    {"name": name.decode(errors="replace"), "value": value}
                    for name, value in message.headers
                ],
            )
        )
        size_bytes = size_of(message) + ROW_BYTES
        self._rows_bytes += size_bytes
        if len(self._rows) >= ROWS_PER_GROUP or self._rows_bytes >= GROUP_BYTES:
            self._write_group()
        return size_bytes

    def drain(self) -> bytes:
        return self._sink.drain()

    def finish(self) -> bytes:
        self._write_group()
        self._writer.close()
        return self._sink.drain()

    def _write_group(self) -> None:
        if self._rows:
            columns = [
                self._arrow.array(column, field.type)
                for column, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
            ]
            self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))
            self._rows.clear()
            self._rows_bytes = 0


class _Sink:
    """A file in memory whose content is drained piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size_bytes = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self.size_bytes += len(piece)
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def drain(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self.size_bytes = 0
        return data
