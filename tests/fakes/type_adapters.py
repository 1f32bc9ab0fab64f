"""Shares FastAPI's compiled type adapters between all apps of a process.

Each app compiles the fifty types of its routes again, several times each, and the tests make
hundreds of apps: half of their time.
"""

from __future__ import annotations

from typing import Any

from fastapi._compat import v2
from pydantic import TypeAdapter

_made: dict[tuple[Any, ...], TypeAdapter[Any]] = {}


class SharedTypeAdapter:
    def __new__(cls, annotated: Any, config: Any = None) -> Any:
        # The field info differs for each use, and its repr is complete.
        key = (annotated.__origin__, repr(annotated.__metadata__), repr(config))
        if key not in _made:
            _made[key] = TypeAdapter(annotated, config=config)
        return _made[key]


def share_type_adapters() -> None:
    assert v2.TypeAdapter in (TypeAdapter, SharedTypeAdapter)
    v2.TypeAdapter = SharedTypeAdapter  # type: ignore[misc, assignment]
