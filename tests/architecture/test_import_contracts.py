"""The layering, checked by import-linter and by imports themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.architecture.repository import ROOT

#: The program that imports the file has imported them.
IMPORTERS = {
    "interfaces/embed/pytest_plugin.py": "pytest",
    "interfaces/embed/testcontainers.py": "testcontainers.core.container",
}
SOURCES = {"domain", "application", "infrastructure", "interfaces"}


def imported(source: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def test_the_import_contracts_hold() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml")) == 0


@pytest.mark.parametrize(
    "folder", ["domain", "application", "interfaces/embed", "interfaces/terminal"]
)
def test_only_the_standard_library_is_imported_from_outside_by(folder: str) -> None:
    foreign = [
        f"{source.relative_to(ROOT)}:{line} imports {module}"
        for source in sorted((ROOT / folder).rglob("*.py"))
        for line, module in imported(source)
        if module.partition(".")[0] not in SOURCES | sys.stdlib_module_names
        and module != IMPORTERS.get(str(source.relative_to(ROOT)))
    ]
    assert foreign == []


@pytest.mark.parametrize(
    "package", ["interfaces.kafka.wire", "interfaces.embed", "interfaces.terminal"]
)
def test_a_package_that_could_be_a_library_imports_nothing_else_of_ours(package: str) -> None:
    ours = [
        f"{source.relative_to(ROOT)}:{line} imports {module}"
        for source in sorted((ROOT / package.replace(".", "/")).rglob("*.py"))
        for line, module in imported(source)
        if module.partition(".")[0] in SOURCES and not f"{module}.".startswith(f"{package}.")
    ]
    assert ours == []
