"""Reads the results of services, now or later, and the error codes of responses."""

from __future__ import annotations

from typing import Any, TypeVar

from application.ports.pending import Pending
from interfaces.kafka.wire.structs import Struct

T = TypeVar("T")


def results_of(result: T | Pending[T]) -> list[T]:
    """Empty until there is a result."""
    if not isinstance(result, Pending):
        return [result]
    results: list[T] = []
    result.then(results.append)
    return results


def error_codes(message: Any) -> set[int]:
    """All error codes in a response, at any depth."""
    if isinstance(message, list):
        return {code for one in message for code in error_codes(one)}
    if not isinstance(message, Struct):
        return set()
    found = set()
    for name in type(message).fields_:
        value = getattr(message, name)
        found |= {value} if name.endswith("error_code") else error_codes(value)
    return found
