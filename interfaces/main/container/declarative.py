"""The one import of dependency-injector.

Its `containers` module imports FastAPI, Starlette and Werkzeug where they are installed, for
injection into routes that nobody here uses: a quarter of a second at every start. While it is being
imported they are made to look as if they were not there.
"""

from __future__ import annotations

import sys

_NOT_NOW = ("fastapi", "starlette", "fast_depends", "werkzeug")

_hidden = [name for name in _NOT_NOW if name not in sys.modules]
for _name in _hidden:
    sys.modules[_name] = None  # type: ignore[assignment]
try:
    from dependency_injector import containers, providers
finally:
    for _name in _hidden:
        del sys.modules[_name]

__all__ = ["containers", "providers"]
