"""scripts/test on a small tree of tests, with the conftest of the real one."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT

UNIT = """
import pytest

def test_that_passes(): pass

@pytest.mark.skip(reason="no strace")
def test_that_is_skipped(): pass

@pytest.mark.xfail(reason="known", strict=True)
def test_that_is_expected_to_fail(): assert False

@pytest.mark.long
def test_that_is_long(): pass
"""

SKIPPED_WITHOUT_A_REASON = """
import pytest

def test_that_gives_no_reason(): pytest.skip()

@pytest.mark.skip
def test_that_gives_none_either(): pass
"""


#: Of pytest's plugins the one that the kinds name, which starts in a tenth of the time of all.
ENVIRONMENT = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("unit", "golden", "e2e/groups"):
        (tmp_path / "tests" / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tests/conftest.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    (tmp_path / "tests/unit/test_unit.py").write_text(UNIT)
    for file in ("golden/test_golden.py", "e2e/groups/test_group.py"):
        (tmp_path / "tests" / file).write_text("def test_that_passes(): pass\n")
    return tmp_path


def run(tree: Path, *arguments: str) -> tuple[int, list[str]]:
    command = [sys.executable, str(ROOT / "scripts/kinds.py"), "-n0", *arguments]
    done = subprocess.run(
        command, cwd=tree, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_the_budgets_sum_to_eight_minutes() -> None:
    kinds = runpy.run_path(str(ROOT / "scripts/kinds.py"))
    beside = [kind.budget_s for kind in kinds["KINDS"] if kind.is_beside]
    alone = [kind.budget_s for kind in kinds["KINDS"] if not kind.is_beside]
    assert len(beside) == 3
    assert max(beside) + sum(alone) == kinds["TOTAL_BUDGET_S"] == 480


def test_each_kind_runs_once_and_the_last_line_counts_all_tests(tree: Path) -> None:
    code, lines = run(tree, "-p", "no:cacheprovider")
    assert [line for line in lines if line.startswith("---")] == [
        "--- unit",
        "--- wire",
        "--- groups",
    ]
    assert lines[-1] == "3 passed, 0 failed, 2 skipped"
    kinds = lines[-8:-5]
    assert [line.split()[0] for line in kinds] == ["unit", "wire", "groups"]
    assert lines[-5] == "slowest of 3 files:"
    assert "of 100 s" in kinds[0]
    assert "s  tests/unit/test_unit.py" in "\n".join(lines[-4:-1])
    assert code == 0


def test_long_tests_run_with_long(tree: Path) -> None:
    assert run(tree, "tests/unit", "--long")[1][-1] == "2 passed, 0 failed, 2 skipped"


def test_a_skip_is_a_failure_where_everything_is_required(tree: Path) -> None:
    code, lines = run(tree, "tests/unit", "--require-all")
    assert lines[-1] == "1 passed, 1 failed, 1 skipped"
    assert any("skipped, with --require-all: no strace" in line for line in lines)
    assert code == 1


def test_a_skip_without_a_reason_is_a_failure(tree: Path) -> None:
    (tree / "tests/unit/test_unit.py").write_text(SKIPPED_WITHOUT_A_REASON)
    code, lines = run(tree, "tests/unit")
    assert lines[-1] == "0 passed, 2 failed, 0 skipped"
    assert code == 1


def test_a_skipped_module_and_a_broken_one_are_counted(tree: Path) -> None:
    test = tree / "tests/unit/test_unit.py"
    test.write_text("import pytest\npytest.skip('no Java', allow_module_level=True)\n")
    assert run(tree, "tests/unit", "--require-all")[1][-1] == "0 passed, 1 failed, 0 skipped"
    test.write_text("import nothing_of_that_name\n")
    assert run(tree, "tests/unit")[1][-1] == "0 passed, 1 failed, 0 skipped"


def test_only_chosen_paths_run(tree: Path) -> None:
    code, lines = run(tree, "tests/e2e/groups/test_group.py::test_that_passes")
    assert lines[-1] == "1 passed, 0 failed, 0 skipped"
    assert code == 0


def test_a_run_without_any_test_fails(tree: Path) -> None:
    code, lines = run(tree, "tests/unit", "-k", "of_no_such_name")
    assert lines[-1] == "0 passed, 0 failed, 0 skipped"
    assert code != 0


@pytest.mark.parametrize("options", [(), ("-k", "unit"), ("-x",), ("--prepare",)])
def test_a_missing_path_is_an_error_before_any_test_runs(
    options: tuple[str, ...], tree: Path
) -> None:
    command = [sys.executable, str(ROOT / "scripts/kinds.py"), *options, "nonsense/path"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "test: there is no nonsense/path\n")
    assert done.returncode == 2


def test_an_option_that_pytest_does_not_know_ends_the_run(tree: Path) -> None:
    code, lines = run(tree, "--of-no-such-name")
    assert [line for line in lines if line.startswith("---")] == ["--- unit"]
    assert code == 4
