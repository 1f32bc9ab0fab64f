"""docs/internals/evidence.md names a test or a command for each promise; all of them exist."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

import pytest

from tests.architecture.repository import ROOT


def promises() -> list[tuple[str, list[str]]]:
    """The rows of all tables: a promise, and the proofs in backquotes."""
    page = (ROOT / "docs/internals/evidence.md").read_text("utf-8")
    rows = [line.strip().strip("|").split("|") for line in page.splitlines() if line[:1] == "|"]
    found = [(row[0].strip(), re.findall(r"`([^`]+)`", row[-1])) for row in rows]
    return [row for row in found if row[0] not in ("promise", "---")]


def proofs() -> list[str]:
    return sorted({proof for _, named in promises() for proof in named})


def test_every_promise_has_a_proof() -> None:
    assert promises()
    assert [promise for promise, named in promises() if not named] == []


@pytest.mark.parametrize("proof", proofs())
def test_a_proof_exists(proof: str) -> None:
    # A command is a path and then arguments; a test is a path and then ::function.
    path, _, function = "".join(takewhile(lambda c: c != " ", proof)).partition("::")
    assert (ROOT / path.removeprefix("./")).exists()
    if path.startswith("tests/") and path.endswith(".py"):
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        defined |= {n.name for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)}
        assert function in defined
    else:
        assert not function
