from __future__ import annotations

import subprocess
import sys

import pytest

from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.address import ObjectsAddress
from infrastructure.storage.objects.opening import open_bucket


def test_without_its_package_a_bucket_is_refused_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(StorageUnusable, match="objects in S3 need a package: pip install obstore"):
        open_bucket(ObjectsAddress("acme"))


def test_the_package_is_not_imported_before_a_bucket_is_opened() -> None:
    program = (
        "import sys; from infrastructure.opening import open_storage; open_storage('memory://'); "
        "from infrastructure.storage.objects.address import parse_objects; "
        "from infrastructure.storage.objects.opening import open_bucket; "
        "parse_objects('s3://acme/x'); print('obstore' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
