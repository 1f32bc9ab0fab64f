"""docs/internals/evidence.md names a test or a command for each promise; all of them exist."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

import pytest

from tests.architecture.repository import ROOT

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


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
        [test] = [
            one for one in ast.walk(tree) if isinstance(one, _FUNCTION) and one.name == function
        ]
        marks = {ast.unparse(one) for one in test.decorator_list}
        marks |= {
            ast.unparse(mark)
            for one in tree.body
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "pytestmark"
            for mark in (one.value.elts if isinstance(one.value, ast.List) else [one.value])
        }
        page = (ROOT / "docs/internals/evidence.md").read_text("utf-8")
        said = {bool(one) for one in re.findall(rf"`{proof}`( \(long\))?", page)}
        assert said == {"pytest.mark.long" in marks}
    else:
        assert not function
