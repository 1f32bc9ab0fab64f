"""Conditions on JSON values, like `$.total > 10`: one language for REST and the command line.

    $.customer.name == "Ann"   $.items[0].price >= 9.5   $['unit price'] != null   $.total

A path alone matches if the field exists. Operators are == (or =), !=, <, <=, >, >= and `contains`,
for a part of a text or an element of an array. The right side is JSON, or text without quotes.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_STEP = re.compile(r"""\.([^\s.\[\]=!<>'"]+)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]""")
_RIGHT = re.compile(r"(==?|!=|<=?|>=?|contains\b)\s*(.+)", re.DOTALL)
_EXPECTED = "expected a path and a comparison, like $.total > 10"

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class JsonCondition(NamedTuple):
    path: tuple[str | int, ...]
    #: Empty: the field exists.
    operator: str = ""
    operand: Any = None

    def matches(self, document: Any) -> bool:
        """False if the document does not have the field, or has another type to compare."""
        for step in self.path:
            container: type[Any] = dict if isinstance(step, str) else list
            if not isinstance(document, container):
                return False
            try:
                document = document[step]
            except (IndexError, KeyError):
                return False
        if not self.operator:
            return True
        if self.operator == "contains":
            return _contains(document, self.operand)
        if order := _ORDERS.get(self.operator):
            ordered = _kind(document) in (float, str) and _kind(document) is _kind(self.operand)
            return ordered and order(document, self.operand)
        return _equal(document, self.operand) is (self.operator == "==")


def json_condition(text: str) -> JsonCondition:
    """Raises ValueError with a message for users."""
    text = text.strip()
    path: list[str | int] = []
    position = 1
    while step := _STEP.match(text, position):
        name, index, *quoted = step.groups()
        path.append(int(index) if index else next(n for n in (name, *quoted) if n is not None))
        position = step.end()
    rest = text[position:].strip()
    right = _RIGHT.fullmatch(rest)
    if not text.startswith("$") or (rest and not right):
        raise ValueError(f"invalid condition {text!r}: {_EXPECTED}")
    if not right:
        return JsonCondition(tuple(path))
    compared = _operand(right[2])
    if right[1] == "contains" and not isinstance(compared, str):
        compared = right[2]
    return JsonCondition(tuple(path), "==" if right[1] == "=" else right[1], compared)


def all_match(conditions: Sequence[JsonCondition], value: bytes | None) -> bool:
    """False for a value that is not JSON."""
    if value is None:
        return False
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return all(condition.matches(document) for condition in conditions)


def _operand(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _kind(value: Any) -> type:
    """Integers and floats are numbers, and Booleans are not."""
    return float if type(value) is int else type(value)


def _equal(one: Any, other: Any) -> bool:
    return _kind(one) is _kind(other) and bool(one == other)


def _contains(document: Any, text: str) -> bool:
    if isinstance(document, str):
        return text in document
    either = (text, _operand(text))
    return isinstance(document, list) and any(_equal(a, b) for a in document for b in either)
