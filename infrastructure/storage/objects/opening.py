"""Opens a bucket: obstore is imported when one is opened."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket


def open_bucket(address: ObjectsAddress) -> Bucket:
    """Sends nothing. Raises StorageUnusable."""
    if importlib.util.find_spec("obstore") is None:
        raise StorageUnusable("objects in S3 need a package: pip install obstore")
    from infrastructure.storage.objects.bucket import Bucket

    return Bucket(address)
