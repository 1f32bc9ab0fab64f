from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.architecture.repository import ROOT, tracked_files

PAGES = [name for name in tracked_files() if name.endswith(".md")]
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")


def test_generated_pages_are_fresh() -> None:
    checked = subprocess.run(
        ["scripts/docs", "--check"],
        cwd=ROOT,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("page", PAGES)
def test_a_page_links_to_what_exists(page: str) -> None:
    folder = (ROOT / page).parent
    links = LINK.findall((ROOT / page).read_text("utf-8"))
    assert [link for link in links if not (folder / link).exists()] == []
