"""The origin of a setting, and the error that names it."""

from __future__ import annotations

from domain.configs.passwords import MASK, without_password
from domain.configs.settings.definition import Definition, Kind

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
        return f"Given({self.origin!r})"  # the text may be a password


class SettingsError(Exception):
    """The settings do not allow a start; the message is one line."""


def shown_of(definition: Definition, text: str) -> str:
    """The text without a password."""
    if definition.kind is Kind.PASSWORD:
        return MASK
    return without_password(text) if definition.sensitive else text


def wrong_value(
    definition: Definition, given: Given, allowed: str = "", name: str = ""
) -> SettingsError:
    """Key, value, origin, and the allowed values."""
    shown = shown_of(definition, given.text.strip())
    return SettingsError(
        f"{name or definition.name} = {shown!r} ({given.origin}) is not allowed: "
        f"expected {allowed or definition.allowed()}"
    )
