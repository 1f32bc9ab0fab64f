"""The one import of dependency-injector.

It imports FastAPI, Starlette, pydantic, Werkzeug and PyYAML if they are installed, for wiring and
settings that are not used here: a third of a second at every start. During its import they are
hidden, and pydantic, whose version it reads, is replaced.
"""

from __future__ import annotations

import sys
from types import ModuleType

_NOT_NOW = ("fastapi", "starlette", "fast_depends", "pydantic_settings", "werkzeug", "yaml")


class _Pydantic(ModuleType):
    VERSION = "2"


_hidden = [name for name in (*_NOT_NOW, "pydantic") if name not in sys.modules]
for _name in _hidden:
    sys.modules[_name] = None  # type: ignore[assignment]
if "pydantic" in _hidden:
    sys.modules["pydantic"] = _Pydantic("pydantic")
try:
    from dependency_injector import containers, providers
finally:
    for _name in _hidden:
        del sys.modules[_name]

__all__ = ["containers", "providers"]
