"""There are no import circles between files or packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache

import grimp
import pytest

#: Known circles. Do not add any.
FILES: set[str] = set()
PACKAGES: set[str] = set()

Imports = dict[str, set[str]]


@cache
def between_files() -> Imports:
    graph = grimp.build_graph(
        *("domain", "application", "infrastructure", "interfaces"), cache_dir=None
    )
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def between_packages() -> Imports:
    """A folder imports another when one of its own files does."""
    files = between_files()
    packages = {name.rpartition(".")[0] for name in files}

    def package_of(name: str) -> str:
        return name if name in packages else name.rpartition(".")[0]

    found: Imports = defaultdict(set)
    for name, imported in files.items():
        found[package_of(name)] |= {package_of(other) for other in imported} - {package_of(name)}
    return found


def reached(imports: Imports, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = imports[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


@pytest.mark.parametrize(
    "imports, exceptions",
    [
        pytest.param(between_files, FILES, id="files"),
        pytest.param(between_packages, PACKAGES, id="packages"),
    ],
)
def test_no_imports_form_a_circle(imports: Callable[[], Imports], exceptions: set[str]) -> None:
    edges = imports()
    reach = {name: reached(edges, name) for name in edges}
    circles = {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in reach
        if name in reach[name]
    }
    assert [sorted(circle) for circle in circles if not circle <= exceptions] == []
    assert exceptions - frozenset().union(*circles) == set(), "cured: take it off the list"
