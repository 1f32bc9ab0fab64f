"""Objects of a store in a bucket of their own, as an independent client sees them."""

from __future__ import annotations

from typing import Any

from tests.contract.batches import batch
from tests.fakes.s3 import S3Server

#: Of a URL: no full tail stays a table.
ALL_SEALED = "&local.bytes=0&delete.delay.ms=0"
BATCHES = b"".join(batch(offset) for offset in range(4))


class Objects:
    def __init__(self, server: S3Server) -> None:
        self._client: Any = server.client
        self.bucket = server.new_bucket()
        self.shown = f"s3://{self.bucket}/a/b"
        #: As a parameter of a URL.
        self.url = f"&objects={self.shown}"

    def names(self) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        found = [one["Key"] for page in pages for one in page.get("Contents", ())]
        assert all(name.startswith("a/b/") for name in found)
        return sorted(name.removeprefix("a/b/") for name in found)

    def data(self, name: str) -> bytes:
        found = self._client.get_object(Bucket=self.bucket, Key=f"a/b/{name}")
        data: bytes = found["Body"].read()
        return data

    def put(self, name: str, data: bytes) -> None:
        self._client.put_object(Bucket=self.bucket, Key=f"a/b/{name}", Body=data)

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket=self.bucket, Key=f"a/b/{name}")
