"""What FastAPI compiles of a type serves all apps of a process.

Each app would compile the fifty types of its routes anew, several times each, and the tests make
hundreds of apps: half of their time.
"""

from __future__ import annotations

from typing import Any

from fastapi._compat import v2
from pydantic import TypeAdapter

_made: dict[tuple[Any, ...], TypeAdapter[Any]] = {}


class SharedTypeAdapter:
    def __new__(cls, annotated: Any, config: Any = None) -> Any:
        # The field beside the type is made anew with each place, and says all it knows.
        key = (annotated.__origin__, repr(annotated.__metadata__), repr(config))
        if key not in _made:
            _made[key] = TypeAdapter(annotated, config=config)
        return _made[key]


def share_type_adapters() -> None:
    assert v2.TypeAdapter in (TypeAdapter, SharedTypeAdapter)
    v2.TypeAdapter = SharedTypeAdapter  # type: ignore[misc, assignment]
