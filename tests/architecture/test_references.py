"""Names in backquotes on pages exist: files, folders, path:Name and path:Class.method."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.repository import ROOT, tracked_files

PAGES = [name for name in tracked_files() if name.endswith(".md")]
FOLDERS = "domain|application|infrastructure|interfaces|tests|scripts|docs"
REFERENCE = re.compile(rf"`((?:\./)?(?:{FOLDERS})/[\w./-]*)(?::([A-Za-z_][\w.]*))?`")
FOR_USERS = re.compile(r"README\.md|docs/[^/]+\.md")
#: A placeholder in how-to steps.
PLACEHOLDER = re.compile(r"\bNAME\b|_NAME\b")


def references(page: str) -> list[tuple[str, str]]:
    found = REFERENCE.findall((ROOT / page).read_text("utf-8"))
    return [(path, name) for path, name in found if not PLACEHOLDER.search(path)]


def defines(body: list[ast.stmt], names: list[str]) -> bool:
    """Whether the dotted name is a class, a function or a plain assignment there."""
    for statement in body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if statement.name == names[0]:
                return len(names) == 1 or defines(statement.body, names[1:])
        elif len(names) == 1 and isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(one, ast.Name) and one.id == names[0] for one in targets):
                return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_names_in_pages_exist(page: str) -> None:
    missing = []
    for path, name in references(page):
        file = ROOT / path
        if not file.exists():
            missing.append(path)
        elif name and not defines(ast.parse(file.read_text("utf-8")).body, name.split(".")):
            missing.append(f"{path}:{name}")
    assert missing == []


@pytest.mark.parametrize("page", [page for page in PAGES if FOR_USERS.fullmatch(page)])
def test_pages_for_users_name_no_source_files(page: str) -> None:
    named = [
        path for path, _ in references(page) if not path.startswith(("docs/", "scripts/", "./"))
    ]
    assert named == []


def test_the_page_about_requests_names_functions() -> None:
    named = [name for _, name in references("docs/internals/request-flow.md") if name]
    assert len(named) > 30
