"""pyproject.toml, the locks and the build hook agree."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from scripts.hatch_build import ROOTS
from tests.architecture.repository import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def pinned(lock: str) -> dict[str, str]:
    text = (ROOT / f"scripts/locks/{lock}.txt").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9-]", requirement)[0] for requirement in requirements}


def test_the_packages_of_the_broker_are_locked() -> None:
    assert names(PROJECT["project"]["dependencies"]) <= pinned("serve").keys()


@pytest.mark.parametrize("group", ["test", "node", "java", "release"])
def test_the_packages_of_an_extra_are_locked(group: str) -> None:
    assert names(PROJECT["dependency-groups"][group]) <= pinned(group).keys()


def test_the_tests_run_on_the_versions_that_are_served() -> None:
    assert pinned("serve").items() <= pinned("image").items() <= pinned("test").items()


def test_the_image_has_the_packages_of_all_storages() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert names(extras["postgres"] + extras["objects"]) <= pinned("image").keys()


@pytest.mark.parametrize("lock", ["serve", "image", "test", "node", "java", "release"])
def test_a_lock_has_hashes_and_no_addresses(lock: str) -> None:
    text = (ROOT / f"scripts/locks/{lock}.txt").read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"^--(index|extra-index|find-links)", text, re.MULTILINE)
    requirements = re.split(r"\n(?=[a-z])", text)
    assert [one for one in requirements if "--hash=sha256:" not in one] == []


def test_every_source_folder_goes_into_the_wheel_and_the_sdist() -> None:
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == set(ROOTS)
    assert set(ROOTS) <= set(PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"])
