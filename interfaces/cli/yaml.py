"""YAML as far as a command prints it: mappings, lists and plain values, nothing that is clever.

Texts are quoted as in JSON, which is YAML too, unless they cannot be taken for anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
#: What some reader of YAML takes for a boolean or for nothing.
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def as_yaml(value: Any) -> str:
    return "\n".join(_lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _entry(f"{_scalar(str(key))}:", inner, "  ")
    elif _is_list(value) and value:
        for inner in value:
            nested = list(_lines(inner))
            yield f"- {nested[0]}"
            yield from (f"  {line}" for line in nested[1:])
    else:
        yield _scalar(value)


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    if (isinstance(value, Mapping) or _is_list(value)) and value:
        yield head
        yield from (indent + line for line in _lines(value))
    else:
        yield f"{head} {_scalar(value)}"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if _is_list(value):
        return "[]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    # DEL and the like may not stand in YAML as they are.
    return re.sub(
        r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]",
        lambda found: f"\\u{ord(found[0]):04x}",
        json.dumps(value, ensure_ascii=False),
    )
