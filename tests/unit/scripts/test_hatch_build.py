from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest

from scripts.hatch_build import ROOTS, rewrite, stage
from tests.architecture.repository import ROOT


@pytest.mark.parametrize(
    "written",
    [
        "from @domain.errors import X",
        "from @domain import errors",
        "import @interfaces.main as m",
        "if x:\n    from @application.a import b",
        "from @domain.a import (\n    b,\n)\n",
        "from . import domain",
        "from domains import x",
        "import os, sys",
        "x = 'from domain import y'",
        '"""é"""\nfrom @infrastructure.b import c',
    ],
)
def test_only_imports_of_our_own_folders_are_rewritten(written: str) -> None:
    """Each @ is where the new home is to appear."""
    assert rewrite(written.replace("@", ""), "source.py") == written.replace("@", "ottla._app.")


@pytest.mark.parametrize(
    "written",
    [
        "import domain.errors",
        "import os, domain.errors as e",
        "importlib.import_module('interfaces.main')",
        "__import__('domain')",
    ],
)
def test_an_import_that_would_break_when_moved_fails_the_build(written: str) -> None:
    with pytest.raises(ValueError, match=r"source\.py:1: "):
        rewrite(written, "source.py")


def test_a_collection_during_the_rewrite_does_no_harm() -> None:
    """A finalizer, say, or whatever a collection of garbage calls or lets run."""
    source = "from domain.errors import X\n" + "x = [y, (1, 2)]\n" * 200
    meanwhile: list[ast.AST] = []

    def parse(*_: object) -> None:
        meanwhile.append(ast.parse("[[[1]]]"))

    thresholds = gc.get_threshold()
    gc.callbacks.append(parse)
    gc.set_threshold(10)
    try:
        written = rewrite(source, "source.py")
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(parse)
    assert written == source.replace("domain", "ottla._app.domain")
    assert meanwhile


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged")
    stage(ROOT, folder)
    return folder


def test_installed_files_import_only_below_the_package(staged: Path) -> None:
    for source in staged.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] not in {"domain", "application"}


def test_the_facade_is_the_top_of_the_package(staged: Path) -> None:
    top = (staged / "ottla/__init__.py").read_text("utf-8")
    assert "from ottla._app.interfaces.embed.broker import" in top
    assert (staged / "ottla/py.typed").exists()
    modules = {path.name for path in staged.iterdir()}
    assert {name for name in modules if not name.startswith("pyspark_")} == {"ottla"}
    found = (staged / "pyspark_ottla.py").read_text("utf-8")
    assert found.startswith(
        "from ottla._app.interfaces.spark.kafka.sources import KafkaSource as DefaultSource\n"
    )


def test_other_files_are_copied_unchanged(tmp_path: Path) -> None:
    checkout, target = tmp_path / "checkout", tmp_path / "target"
    for root in ROOTS:
        (checkout / root / "static").mkdir(parents=True)
    (checkout / "interfaces/embed").mkdir()
    (checkout / "interfaces/embed/__init__.py").touch()
    picture = bytes(range(256))
    (checkout / "interfaces/static/picture.png").write_bytes(picture)
    (checkout / "interfaces/static/page.js").write_text("import x from './domain.js'\n", "utf-8")
    stage(checkout, target)
    installed = target / "ottla/_app/interfaces/static"
    assert (installed / "picture.png").read_bytes() == picture
    assert (installed / "page.js").read_text("utf-8") == "import x from './domain.js'\n"
