"""Settings as the command line would give them."""

from __future__ import annotations

from interfaces.main.settings.origin import Given
from interfaces.main.settings.sources import Settings, load_settings


def settings(**given: str) -> Settings:
    """By their keys with underscores."""
    return load_settings(
        {name.replace("_", "."): Given(text, "test") for name, text in given.items()}, {}
    )
