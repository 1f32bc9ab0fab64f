"""Each call of the event log is as application/ports/events.py declares it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from application.ports.events import EVENTS
from tests.architecture.repository import ROOT, tracked_files

LEVELS = {"info", "warning", "error"}
#: What an event log is called where it is used.
NAMES = {"events", "_events", "log", "_log"}
FOLDERS = ("domain/", "application/", "infrastructure/", "interfaces/")


def methods_of(function: ast.expr) -> Iterator[ast.Attribute]:
    """`log.warning`, or both of `(log.warning if failed else log.info)`."""
    if isinstance(function, ast.IfExp):
        yield from methods_of(function.body)
        yield from methods_of(function.orelse)
    elif isinstance(function, ast.Attribute) and function.attr in LEVELS:
        of = function.value
        name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
        if name in NAMES:
            yield function


def problems_of(call: ast.Call) -> Iterator[str]:
    [event] = call.args
    if not isinstance(event, ast.Constant) or event.value not in EVENTS:
        yield f"not a declared key: {ast.unparse(event)}"
        return
    declared = EVENTS[event.value]
    for method in methods_of(call.func):
        if method.attr not in declared.levels:
            yield f"{event.value} is not declared as {method.attr}"
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in declared.fields.split():
            yield f"{event.value} has no field {keyword.arg}"
        reason = getattr(keyword.value, "value", None) if keyword.arg == "reason" else None
        if isinstance(reason, str) and reason not in declared.reasons:
            yield f"{event.value} has no reason {reason}"


@cache
def calls() -> list[tuple[str, ast.Call]]:
    found = []
    for name in tracked_files():
        if name.startswith(FOLDERS) and name.endswith(".py"):
            for node in ast.walk(ast.parse((ROOT / name).read_text())):
                if isinstance(node, ast.Call) and any(methods_of(node.func)):
                    found.append((f"{name}:{node.lineno}", node))
    return found


def test_each_call_of_the_event_log_has_a_declared_key_level_and_fields() -> None:
    assert [f"{where}: {what}" for where, call in calls() for what in problems_of(call)] == []


@pytest.mark.parametrize("key", EVENTS)
def test_each_declared_event_is_used(key: str) -> None:
    used = {getattr(call.args[0], "value", None) for _, call in calls()}
    if key == "log_lines_dropped":  # written by the event log itself
        used.add("log_lines_dropped" if key in _event_log() else None)
    assert key in used


def _event_log() -> str:
    return (ROOT / "infrastructure/observability/event_log.py").read_text()
