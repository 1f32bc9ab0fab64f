"""Runs the tests kind by kind; prints the time of each kind, and the slowest files.

Called by scripts/test, which sets up what they need. A kind over its budget is a warning: the
machine may be slow. A kind that is always over it has tests that belong behind `--long`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

REPORTS = Path(".cache/tests")

#: pytest's exit codes: usage error; every test was deselected, by -k or because all are long.
USAGE, NO_TESTS = 4, 5
#: One-letter options of pytest that take no value.
FLAGS = re.compile("-[hlqsvVx]+")


@dataclass(frozen=True)
class Kind:
    name: str
    folders: tuple[str, ...]
    budget_s: int
    #: Arguments of this kind only.
    options: tuple[str, ...] = ()
    #: Runs beside others that do. Unit and wire are one process each: xdist costs a quarter of the
    #: time of thousands of small tests.
    is_beside: bool = False
    #: Folders below that are a kind of their own.
    without: tuple[str, ...] = ()

    def here(self) -> Kind:
        """Only with the folders that have tests in this checkout."""
        folders = [
            folder
            for folder in self.folders
            if any(
                not str(test).startswith(self.without) for test in Path(folder).rglob("test_*.py")
            )
        ]
        return replace(self, folders=tuple(folders))


#: Eight minutes on two cores, with the set-up done.
TOTAL_BUDGET_S = 480
#: Files in the closing report.
SLOWEST = 10

#: Each file in one process, in the order of tests/e2e/conftest.py.
IN_ORDER = ("--dist", "loadfile", "--no-loadscope-reorder")

KINDS = (
    Kind("unit", ("tests/unit",), 100, is_beside=True),
    # It waits for PostgreSQL half of its time.
    Kind("contract", ("tests/contract",), 100, ("-n", "2"), is_beside=True),
    # The oracle's scenarios run against one broker.
    Kind("wire", ("tests/golden", "tests/property", "tests/oracle"), 100, is_beside=True),
    Kind("simulation", ("tests/simulation",), 38, ("-n", "2")),
    Kind("crash", ("tests/crash", "tests/power"), 67, ("-n", "2")),
    Kind("hostile", ("tests/fuzz", "tests/hostile"), 31, ("-n", "2")),
    # Those with more than two processes wait for clients, members and browsers.
    Kind(
        "e2e",
        ("tests/e2e",),
        70,
        ("-n", "4", *IN_ORDER),
        without=("tests/e2e/groups", "tests/e2e/admin", "tests/e2e/spark"),
    ),
    Kind("groups", ("tests/e2e/groups",), 38, ("-n", "4", *IN_ORDER)),
    Kind("admin", ("tests/e2e/admin",), 66, ("-n", "4", *IN_ORDER)),
    Kind("spark", ("tests/e2e/spark",), 70, ("-n", "2", *IN_ORDER)),
)


@dataclass
class Outcome:
    kind: Kind
    code: int
    seconds: float
    #: Of a kind that ran beside another.
    output: str | None = None
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    #: Seconds by the file of the test.
    files: Counter[str] = field(default_factory=Counter)

    def line(self, long: bool) -> str:
        counts = f"{self.passed:6} passed {self.failed:4} failed {self.skipped:4} skipped"
        over = not long and self.seconds > self.kind.budget_s > 0
        budget = f" of {self.kind.budget_s:3} s" if self.kind.budget_s else ""
        return (
            f"{self.kind.name:12}{counts} {self.seconds:7.1f} s{budget}"
            f"{'  WARNING: over its budget' if over else ''}"
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/test", allow_abbrev=False)
    parser.add_argument("--long", action="store_true", help="also what takes longer than a minute")
    parser.add_argument("--require-all", action="store_true", help="a skipped test is a failure")
    parser.add_argument("--prepare", action="store_true", help="install the other clients")
    options, rest = parser.parse_known_args(arguments)
    if missing := _missing(rest):
        print(f"test: there is no {missing[0]}", file=sys.stderr)
        return 2
    if options.prepare and subprocess.call([sys.executable, "-m", "tests.e2e.prepare"]):
        print("test: nothing was prepared", file=sys.stderr)
    common = [flag for flag in ("--long", "--require-all") if flag in arguments]

    chosen = [path for path in rest if Path(path.partition("::")[0]).exists()]
    if chosen:
        kinds = [Kind("chosen", tuple(chosen), 0)]
        rest = [argument for argument in rest if argument not in chosen]
    else:
        kinds = [here for kind in KINDS if (here := kind.here()).folders]

    outcomes = []
    for outcome in _run_all(kinds, [*common, *rest]):
        outcomes.append(outcome)
        if outcome.code == USAGE:
            return USAGE  # all other kinds would fail alike

    print()
    for outcome in outcomes:
        print(outcome.line(options.long))
    _print_slowest(outcomes)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return 0 if passed + skipped else NO_TESTS


def _print_slowest(outcomes: list[Outcome]) -> None:
    """By the sum of their tests' times, which run in several processes at once."""
    files = Counter[str]()
    for outcome in outcomes:
        files.update(outcome.files)  # unlike a sum, also those of 0.000 s
    print(f"slowest of {len(files)} files:")
    for name, seconds in files.most_common(SLOWEST):
        print(f"{seconds:9.1f} s  {name}")


def _missing(arguments: list[str]) -> list[str]:
    """Arguments that can only be a path, and do not exist; others may be the value of an option."""
    return [
        argument
        for before, argument in zip(["-q", *arguments], arguments, strict=False)
        if not argument.startswith("-")
        and (not before.startswith("-") or "=" in before or FLAGS.fullmatch(before))
        and not Path(argument.partition("::")[0]).exists()
    ]


def _run_all(kinds: list[Kind], arguments: list[str]) -> Iterator[Outcome]:
    """Those that run side by side are printed when they end."""
    beside = [kind for kind in kinds if kind.is_beside]
    with ThreadPoolExecutor() as lanes:
        for outcome in lanes.map(lambda kind: _run(kind, arguments, subprocess.PIPE), beside):
            print(f"\n--- {outcome.kind.name}\n{outcome.output}", flush=True)
            yield outcome
    for kind in kinds:
        if kind not in beside:
            print(f"\n--- {kind.name}", flush=True)
            yield _run(kind, arguments, None)


def _run(kind: Kind, arguments: list[str], stdout: int | None) -> Outcome:
    report = REPORTS / f"{kind.name}.xml"
    report.unlink(missing_ok=True)
    started = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", f"--junitxml={report}"),
            *kind.folders,
            *(f"--ignore={folder}" for folder in kind.without),
            *kind.options,
            *arguments,
        ],
        stdout=stdout,
        stderr=subprocess.STDOUT if stdout else None,
        text=True,
        check=False,
    )
    outcome = Outcome(kind, done.returncode, time.monotonic() - started, done.stdout)
    _count(outcome, report)
    return outcome


def _count(outcome: Outcome, report: Path) -> None:
    if report.exists():
        for suite in ElementTree.parse(report).iter("testsuite"):
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            outcome.failed += bad
            outcome.skipped += int(suite.get("skipped", 0))
            outcome.passed += int(suite.get("tests", 0)) - bad - int(suite.get("skipped", 0))
            for case in suite.iter("testcase"):
                outcome.files[_file_of(case)] += float(case.get("time", 0))
    if outcome.code not in (0, NO_TESTS) and not outcome.failed:
        outcome.failed = 1  # pytest itself failed


def _file_of(case: ElementTree.Element) -> str:
    """A test of a class has the class behind the module; a broken module is named alone."""
    path = (case.get("classname") or case.get("name", "")).replace(".", "/")
    while path and not Path(f"{path}.py").exists():
        path = path.rpartition("/")[0]
    return f"{path}.py"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
