"""What is wrong with a body or a query, in words for whoever wrote it: a clause for each fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

#: More are not told.
MOST = 10

_WORDS = {
    "missing": "is missing",
    "string_type": "expected a string",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "int_parsing_size": "the number is too large",
    "float_type": "expected a number",
    "list_type": "expected an array",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
    "greater_than_equal": "expected {ge} or more",
    "greater_than": "expected more than {gt}",
    "less_than_equal": "expected {le} or less",
    "less_than": "expected less than {lt}",
    "literal_error": "expected {expected}",
    "string_too_long": "expected {max_length} characters at the most",
    "string_too_short": "expected {min_length} characters at least",
    "too_long": "expected {max_length} at the most",
    "too_short": "expected {min_length} at least",
    "value_error": "{error}",
    "json_invalid": "is not JSON",
}


def words_of(faults: Sequence[Mapping[str, Any]]) -> str:
    """As FastAPI and pydantic tell them."""
    return "; ".join(map(_clause, faults[:MOST]))


def is_no_json(faults: Sequence[Mapping[str, Any]]) -> bool:
    return any(fault["type"] == "json_invalid" for fault in faults)


def expected(words: str) -> WrapValidator:
    """For what may be one of several types: told in these words, not by what each would want."""

    told = {"words": f"expected {words}"}

    def check(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("expected", "{words}", told) from None

    return WrapValidator(check)


def _clause(fault: Mapping[str, Any]) -> str:
    source, *place = fault["loc"]
    name = ".".join(map(str, place))
    if fault["type"] == "extra_forbidden":
        words = "there is no such " + ("parameter" if source == "query" else "field")
    elif (known := _WORDS.get(fault["type"])) is not None:
        words = known.format_map(fault.get("ctx") or {})
    else:
        words = str(fault["msg"]).replace("Input should be", "expected", 1)
    if name:
        return f"{name}: {words}"
    # Of several fields together, the words name them.
    return words if fault["type"] == "value_error" else f"the {source}: {words}"
