"""The message for a body or query that is not valid: one clause per fault, in pydantic's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

MAX_CLAUSES = 10


def words_of(faults: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(map(_clause, faults[:MAX_CLAUSES]))


def is_no_json(faults: Sequence[Mapping[str, Any]]) -> bool:
    return any(fault["type"] == "json_invalid" for fault in faults)


def expected(words: str) -> WrapValidator:
    """For a field of several types: one message instead of one for each type."""

    def check(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("expected", "expected {words}", {"words": words}) from None

    return WrapValidator(check)


def _clause(fault: Mapping[str, Any]) -> str:
    source, *path = fault["loc"]
    name = ".".join(map(str, path)) or f"the {source}"
    if fault["type"] == "extra_forbidden":
        return f"unknown {'parameter' if source == 'query' else 'field'} {name}"
    if fault["type"] == "missing":
        return f"{name} is required"
    message = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "value_error" and not path:
        return message  # which names the fields
    return f"{name}: {message.replace('Input should be', 'must be', 1)}"
