"""The origin of a setting, and the error that names it."""

from __future__ import annotations

from domain.configs.passwords import without_password
from domain.configs.settings.definition import Definition

DEFAULT = "default"
COMMAND_LINE = "command line"
ENVIRONMENT = "environment"


class Given:
    """The text of a setting, and its origin."""

    __slots__ = ("origin", "text")

    def __init__(self, text: str, origin: str) -> None:
        self.text = text
        self.origin = origin

    def __repr__(self) -> str:
        return f"Given({self.text!r}, {self.origin!r})"


class SettingsError(Exception):
    """The settings do not allow a start; the message is one line."""


def wrong_value(definition: Definition, given: Given, allowed: str = "") -> SettingsError:
    """Key, value, origin, and the allowed values."""
    text = given.text.strip()
    shown = without_password(text) if definition.sensitive else text
    return SettingsError(
        f"{definition.name} = {shown!r} ({given.origin}) is not allowed: "
        f"expected {allowed or definition.allowed()}"
    )
