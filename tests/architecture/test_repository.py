"""The tree itself: folders, file lengths, and what must not be committed."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

import pytest

from scripts.kinds import KINDS
from tests.architecture.repository import ROOT, tracked_files

TOP_LEVEL = {
    *("domain", "application", "infrastructure", "interfaces", "tests", "docs", "scripts"),
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    *(
        ".ci",
        ".dockerignore",
        ".gitignore",
        "Containerfile",
        "compose.yaml",
        "compose.cluster.yaml",
    ),
}

LINES = 400

#: Longer files that hold one concept, each with the reason.
LONGER: dict[str, str] = {}

#: Test folders that scripts/test does not run, and what runs them.
NOT_A_KIND = {"architecture": "scripts/check", "bench": "scripts/bench"}

# Concatenated, so that this file does not match itself.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
REGISTRY = re.compile(
    r"\b(py" + r"pi\.org|python" + r"hosted\.org|registry\.np" + r"mjs\.org|repo1?\.maven"
    r"|maven" + r"\.org|crates" + r"\.io/|proxy\." + r"golang\.org)"
)
# Ottla is not published: the name on an index may belong to others.
INSTALL_BY_NAME = re.compile(r"\b(install|inject|uvx|pipx run) +['\"]?ott" + r"la\b")
# Kafka's default folders are not paths of a machine.
MACHINE_PATH = re.compile(
    r"(?<![\w.$}/])/(ro" + r"ot|wo" + r"rk|ho" + r"me/\w+|tm" + r"p(?!/(kafka|kraft)-))/\w"
)


def python_files() -> list[str]:
    return [name for name in tracked_files() if name.endswith(".py")]


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for name in tracked_files():
        try:
            text = (ROOT / name).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    return found


def test_the_top_level_folders_are_those_of_the_architecture() -> None:
    assert {name.partition("/")[0] for name in tracked_files()} <= TOP_LEVEL


@pytest.mark.parametrize("name", python_files())
def test_a_file_holds_one_concept(name: str) -> None:
    count = len((ROOT / name).read_text("utf-8").splitlines())
    assert count <= LINES or name in LONGER, f"{count} lines: what is the second concept in there?"


def test_only_files_that_are_longer_are_on_the_list_of_longer_files() -> None:
    for name, reason in LONGER.items():
        assert reason
        assert len((ROOT / name).read_text("utf-8").splitlines()) > LINES, name


def test_a_script_is_executable_and_nothing_else_is() -> None:
    wrong = []
    for name in tracked_files():
        with (ROOT / name).open("rb") as opened:
            is_script = opened.read(2) == b"#!"
        if is_script != os.access(ROOT / name, os.X_OK):
            wrong.append(name)
    assert wrong == []


def test_every_folder_of_python_files_is_a_package() -> None:
    roots = ("domain", "application", "infrastructure", "interfaces", "tests")
    folders = {PurePath(name).parent for name in python_files() if name.startswith(roots)}
    missing = [str(folder) for folder in folders if not (ROOT / folder / "__init__.py").exists()]
    assert missing == []


def test_every_test_is_run_by_one_of_the_scripts() -> None:
    of_a_kind = {folder for kind in KINDS for folder in kind.folders}
    lost = [
        name
        for name in python_files()
        if name.startswith("tests/")
        and Path(name).name.startswith("test_")
        and not any(name.startswith(f"{folder}/") for folder in of_a_kind)
        and name.split("/")[1] not in NOT_A_KIND
    ]
    assert lost == []


def test_nothing_is_left_unfinished() -> None:
    assert lines_with(UNFINISHED) == []


def test_no_registry_is_named() -> None:
    """Where packages come from is the user's business; locks have hashes instead."""
    assert lines_with(REGISTRY) == []


def test_no_page_installs_ottla_by_its_name() -> None:
    assert lines_with(INSTALL_BY_NAME) == []


def test_no_path_of_a_machine_is_named() -> None:
    assert lines_with(MACHINE_PATH) == []
