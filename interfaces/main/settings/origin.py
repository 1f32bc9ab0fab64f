"""Origin: where the value of a setting was found, and the refusal that names it."""

from __future__ import annotations

from domain.configs.passwords import without_password
from domain.configs.settings.definition import Definition

DEFAULT = "default"
COMMAND_LINE = "command line"
ENVIRONMENT = "environment"


class Given:
    """One value somebody gave: the text, and where it stands."""

    __slots__ = ("origin", "text")

    def __init__(self, text: str, origin: str) -> None:
        self.text = text
        self.origin = origin

    def __repr__(self) -> str:
        return f"Given({self.text!r}, {self.origin!r})"


class SettingsError(Exception):
    """The broker cannot start as it was told to: one line for a person."""


def wrong_value(definition: Definition, given: Given, allowed: str = "") -> SettingsError:
    """Key, value, place, and what is allowed instead, in one line."""
    text = given.text.strip()
    shown = without_password(text) if definition.sensitive else text
    return SettingsError(
        f"{definition.name} = {shown!r} ({given.origin}) is not allowed: "
        f"expected {allowed or definition.allowed()}"
    )
