"""A bucket of S3, or of a server that speaks its protocol. All methods block, in any thread.

obstore reads endpoint, region and credentials from the AWS variables, and gets temporary
credentials of an instance, a container or a web identity itself.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.errors import ObjectDamaged, ObjectMissing, ObjectsFailed
from infrastructure.storage.objects.reasons import is_beyond_end, is_missing, reason_of
from infrastructure.storage.traffic import DELETE, LIST, READ, WRITE, Traffic

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

#: The first that is set is the endpoint; without any it is Amazon's of the region.
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


@dataclass(frozen=True)
class Limits:
    """A call takes their sum at most."""

    #: From the connection to the last byte of the response.
    request_s: float
    #: After it a request that failed is not sent again.
    retry_s: float
    connect_s: float = 5.0
    pause_s: float = 0.1
    longest_pause_s: float = 1.0


#: 4 MB, for a consumer that waits: S3 takes seconds at times, but a bucket that is away is reported
#: after 4 to 8 s. Consumers repeat the read.
READS = Limits(request_s=8, retry_s=4)
#: 64 MB: with less than 1.5 MB/s it fails.
WRITES = Limits(request_s=45, retry_s=14)
#: Clients wait.
COMMITS = Limits(request_s=8, retry_s=3)


class Bucket:
    def __init__(
        self,
        address: ObjectsAddress,
        reads: Limits = READS,
        writes: Limits = WRITES,
        commits: Limits = COMMITS,
    ) -> None:
        """Sends nothing. Raises StorageUnusable for variables that obstore does not read."""
        self.address = address
        self.traffic = Traffic()
        try:
            self._reads, self._writes = _store(address, reads), _store(address, writes)
            self._commits = _store(address, commits)
        except (BaseError, ValueError) as error:
            raise StorageUnusable(f"{address.shown}: {reason_of(error)}") from error

    def put(self, name: str, data: bytes | bytearray) -> None:
        """Replaces an object of that name. Raises ObjectsFailed: it may be there, whole."""
        self._put(self._writes, name, data)

    def put_soon(self, name: str, data: bytes | bytearray) -> None:
        """The same, for a commit."""
        self._put(self._commits, name, data)

    def read(self, name: str, position: int, size_bytes: int) -> bytes:
        """Raises ObjectMissing, ObjectDamaged if it is too short, and ObjectsFailed."""
        if not size_bytes:
            return b""  # HTTP has no empty range
        with self._explained(READ, "read", name, size_bytes):
            data = self._reads.get_range(name, start=position, length=size_bytes).to_bytes()
        if len(data) != size_bytes:
            raise self._too_short(name)
        return data

    def delete(self, names: Sequence[str]) -> None:
        """Objects that are missing are no failure. Raises ObjectsFailed: some may be deleted."""
        if not names:
            return
        what = names[0] if len(names) == 1 else f"{len(names)} objects"
        try:
            with self._explained(DELETE, "deleted", what):
                self._reads.delete(names)
        except ObjectMissing:  # a server may respond so, and stop there
            if len(names) > 1:
                for name in names:
                    self.delete([name])

    def names(self) -> Iterator[tuple[str, int]]:
        """Names below the prefix, and sizes in bytes, as of now. Raises ObjectsFailed."""
        with self._explained(LIST, "listed"):
            pages = iter(self._reads.list(chunk_size=1000))
        while True:
            with self._explained(LIST, "listed"):
                page = next(pages, None)
            if page is None:
                return
            for one in page:
                if one["path"]:  # consoles make an empty object for a folder
                    yield one["path"], one["size"]

    def check(self) -> None:
        """With a small object of a name that no other process uses. Raises StorageUnusable.

        Each step has the limits of a read.
        """
        name, data = f"probe-{secrets.token_hex(8)}", b"ottla"
        try:
            self._put(self._reads, name, data)
            try:
                is_same = self.read(name, 0, len(data)) == data
                next(self.names(), None)
            except (ObjectsFailed, ObjectDamaged):
                with suppress(ObjectsFailed):
                    self.delete([name])
                raise
            self.delete([name])
        except (ObjectsFailed, ObjectDamaged) as error:
            raise StorageUnusable(str(error)) from error
        if not is_same:
            raise StorageUnusable(f"{self.address.shown}/{name}: read is not what was written")

    def _put(self, store: S3Store, name: str, data: bytes | bytearray) -> None:
        with self._explained(WRITE, "written", name, len(data)):
            store.put(name, data, use_multipart=False)

    @contextmanager
    def _explained(
        self, request: str, what: str, name: str = "", size_bytes: int = 0
    ) -> Iterator[None]:
        try:
            yield
            self.traffic.count(request, size_bytes)
        except (BaseError, FileNotFoundError) as error:
            self.traffic.failed(request)
            if is_missing(error):
                raise ObjectMissing(f"{self._place(name)} is missing") from error
            if is_beyond_end(error):
                raise self._too_short(name) from error
            raise ObjectsFailed(
                f"{self._place(name)} cannot be {what}: {reason_of(error)}"
            ) from error

    def _too_short(self, name: str) -> ObjectDamaged:
        return ObjectDamaged(f"{self._place(name)} is shorter than it was written")

    def _place(self, name: str) -> str:
        return f"{self.address.shown}{'/' if name else ''}{name}"


def _store(address: ObjectsAddress, limits: Limits) -> S3Store:
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    options: ClientConfig = {
        "timeout": timedelta(seconds=limits.request_s),
        "connect_timeout": timedelta(seconds=min(limits.connect_s, limits.request_s)),
        # An operator who names such an endpoint wants it.
        "allow_http": endpoint is not None and endpoint.startswith("http://"),
    }
    retries: RetryConfig = {
        "max_retries": 1000,
        "retry_timeout": timedelta(seconds=limits.retry_s),
        "backoff": {
            "init_backoff": timedelta(seconds=limits.pause_s),
            "max_backoff": timedelta(seconds=limits.longest_pause_s),
            "base": 2,
        },
    }
    return S3Store(
        address.bucket,
        prefix=address.prefix or None,
        config={"endpoint": endpoint} if endpoint else {},
        client_options=options,
        retry_config=retries,
    )
