from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from interfaces.cli.failures import CommandFailed
from interfaces.cli.topic_copies import download


def test_a_download_does_not_touch_a_file_that_exists(tmp_path: Path) -> None:
    other = tmp_path / "records.partial"
    other.write_text("of another program")
    with pytest.raises(CommandFailed, match="File exists"):
        download(Namespace(file=str(tmp_path / "records")))
    assert other.read_text() == "of another program"
