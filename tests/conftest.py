"""What holds for every test: --long, --require-all, and a process without the user's settings."""

from __future__ import annotations

import gc
import os
import signal
import sys

import pytest
from hypothesis import settings

# CI must not fail by chance, so the quick run takes the same examples every time; `--long` takes
# many, and new ones.
settings.register_profile("quick", derandomize=True, deadline=None)
settings.register_profile("long", max_examples=2000, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run what takes over a minute")
    parser.addoption("--require-all", action="store_true", help="a skipped test is a failure")


def pytest_configure(config: pytest.Config) -> None:
    # Containers often forbid it, and every broker and command would compile its sources anew.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    gc.disable()
    settings.load_profile("long" if config.getoption("--long") else "quick")
    for name in list(os.environ):
        if name.startswith(("OTTLA_", "KAFKA_")) and not name.startswith("OTTLA_TEST_"):
            del os.environ[name]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts what is to run in the background like that, and children would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    # Thousands of tests are no garbage, and would be looked through with each one that runs.
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    report: pytest.TestReport = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _judge_skip(item.config, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> pytest.CollectReport:
    report: pytest.CollectReport = yield
    if report.skipped:
        _judge_skip(collector.config, report)
    return report


def _judge_skip(config: pytest.Config, report: pytest.TestReport | pytest.CollectReport) -> None:
    """A skip says why, and is a failure where everything is required."""
    assert isinstance(report.longrepr, tuple)
    reason = str(report.longrepr[2]).removeprefix("Skipped: ")
    if reason in {"", "Skipped", "unconditional skip"}:
        report.outcome, report.longrepr = "failed", "skipped without a reason"
    elif config.getoption("--require-all"):
        report.outcome, report.longrepr = "failed", f"skipped, with --require-all: {reason}"
