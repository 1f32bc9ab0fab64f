"""Builds the wheel: moves the four source folders to ottla/_app/ and rewrites their imports.

`domain`, `application`, ... would clash in site-packages. Only import statements are rewritten, in
place, so line numbers stay.
"""

from __future__ import annotations

import ast
import gc
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOTS = ("domain", "application", "infrastructure", "interfaces")
HOME = "ottla._app"

#: The module `ottla`; the rest of the facade stays in ottla/_app/interfaces/embed.
FACADE = "interfaces/embed/__init__.py"

#: `python -m ottla` is the command `ottla`.
MAIN = f"""import sys

from {HOME}.interfaces.main.__main__ import main

sys.exit(main())
"""

SPARK = "interfaces/spark"
#: Modules that import their libraries only when a user imports them, or, with Spark, calls them.
PUBLIC = {
    "spark": ("interfaces.spark.registration", "register"),
    "testcontainers": ("interfaces.embed.testcontainers", "OttlaContainer"),
}
PUBLIC_MODULE = """from {home}.{module} import {name}

__all__ = ["{name}"]
"""
#: Spark imports modules `pyspark_*` and registers their data sources.
DEFAULT_SOURCE = """from {home}.{module} import {source} as DefaultSource

__all__ = ["DefaultSource"]
"""


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError("Ottla runs from its checkout as it is: use scripts/serve")
        self._staging = Path(tempfile.mkdtemp(prefix="ottla-wheel-"))
        stage(Path(self.root), self._staging)
        for staged in self._staging.iterdir():
            build_data["force_include"][str(staged)] = staged.name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._staging)


def stage(checkout: Path, target: Path) -> None:
    """Writes the package `ottla`, as it is installed, and its data sources, under `target`."""
    package = target / "ottla"
    for root in ROOTS:
        for source in sorted((checkout / root).rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                _copy(source, package / "_app" / source.relative_to(checkout))
    _copy(checkout / FACADE, package / "__init__.py")
    (package / "__main__.py").write_text(MAIN, "utf-8", newline="\n")
    (package / "_app" / "__init__.py").touch()
    (package / "py.typed").touch()
    for public, (module, name) in PUBLIC.items():
        code = PUBLIC_MODULE.format(home=HOME, module=module, name=name)
        (package / f"{public}.py").write_text(code, "utf-8", newline="\n")
    for sources in sorted((checkout / SPARK).glob("*/sources.py")):
        code = data_source(sources.relative_to(checkout), sources.read_text("utf-8"))
        (target / f"{name_of(sources.parent.name)}.py").write_text(code, "utf-8", newline="\n")


def name_of(folder: str) -> str:
    """The module in which Spark finds the data source of this folder."""
    return "pyspark_ottla" if folder == "kafka" else f"pyspark_ottla_{folder}"


def data_source(file: Path, code: str) -> str:
    (source,) = (
        node.name
        for node in ast.parse(code, str(file)).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "DataSource" for base in node.bases)
    )
    module = ".".join(file.with_suffix("").parts)
    return DEFAULT_SOURCE.format(home=HOME, module=module, source=source)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".py":
        text = rewrite(source.read_text("utf-8"), str(source))
        target.write_text(text, "utf-8", newline="\n")
    else:
        shutil.copyfile(source, target)


def rewrite(source: str, name: str) -> str:
    """`from domain.x import y` becomes `from ottla._app.domain.x import y`."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(_parsed(source, name)):
        if isinstance(node, ast.ImportFrom) and not node.level and _ours(node.module or ""):
            _prefix(lines, node, r"from\s+")
        elif isinstance(node, ast.Import) and any(_ours(alias.name) for alias in node.names):
            if len(node.names) > 1 or node.names[0].asname is None:
                raise ValueError(f"{name}:{node.lineno}: use `from ... import`, or one `as`")
            _prefix(lines, node, r"import\s+")
        elif isinstance(node, ast.Call) and _imports_by_name(node):
            raise ValueError(f"{name}:{node.lineno}: an import by name must be relative")
    return "".join(lines)


def _parsed(source: str, name: str) -> ast.Module:
    # Up to Python 3.11 all parses share one depth counter: a parse fails when another thread or a
    # finalizer parses meanwhile.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source, name)
    finally:
        if collecting:
            gc.enable()


def _ours(module: str) -> bool:
    return module.partition(".")[0] in ROOTS


def _prefix(lines: list[str], node: ast.stmt, keyword: str) -> None:
    # ast counts columns in UTF-8 bytes; before an import statement there is only white space,
    # or, after a semicolon, code that the formatter would have put on a line of its own.
    line = lines[node.lineno - 1]
    at = re.compile(keyword).match(line, node.col_offset)
    assert at is not None, line
    lines[node.lineno - 1] = f"{line[: at.end()]}{HOME}.{line[at.end() :]}"


def _imports_by_name(call: ast.Call) -> bool:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    function = call.func.id if isinstance(call.func, ast.Name) else function
    named = call.args[0] if call.args else None
    return (
        function in {"import_module", "__import__"}
        and isinstance(named, ast.Constant)
        and _ours(str(named.value))
    )
