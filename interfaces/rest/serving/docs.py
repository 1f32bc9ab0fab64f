"""Prints the OpenAPI description, without a broker: `python -m interfaces.rest.serving.docs`."""

from __future__ import annotations

import json
from typing import Any, cast

from interfaces.rest.admin import Admin
from interfaces.rest.serving.app import create_app


def openapi() -> dict[str, Any]:
    """The description that a broker with `testing` serves under /openapi.json; only requests use
    the broker.
    """
    return create_app(cast(Admin, None), testing=True, described=True).openapi()


if __name__ == "__main__":
    print(json.dumps(openapi(), indent=1, sort_keys=True))
