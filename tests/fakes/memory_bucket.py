"""A bucket in memory, for stores that are opened again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.errors import ObjectMissing


class MemoryBucket:
    def __init__(self, address: ObjectsAddress) -> None:
        self.address = address
        self.objects: dict[str, bytes] = {}

    def put(self, name: str, data: bytes | bytearray) -> None:
        assert name not in self.objects
        self.objects[name] = bytes(data)

    put_soon = put

    def read(self, name: str, position: int, size_bytes: int) -> bytes:
        if name not in self.objects:
            raise ObjectMissing(f"{self.address.shown}/{name} is missing")
        data = self.objects[name][position : position + size_bytes]
        assert len(data) == size_bytes
        return data

    def delete(self, names: Sequence[str]) -> None:
        for name in names:
            self.objects.pop(name, None)

    def names(self) -> Iterator[tuple[str, int]]:
        for name, data in self.objects.items():
            yield name, len(data)

    def check(self) -> None:
        pass


@cache
def memory_bucket(address: ObjectsAddress) -> MemoryBucket:
    return MemoryBucket(address)
