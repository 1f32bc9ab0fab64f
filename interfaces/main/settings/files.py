"""A settings file: TOML with dotted keys, or a server.properties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interfaces.main.settings.origin import Given, SettingsError
from interfaces.terminal.properties import parse_properties


def read_settings_file(path: Path) -> dict[str, Given]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as failure:
        raise SettingsError(f"cannot read {path}: {failure.strerror}") from failure
    except UnicodeDecodeError as failure:
        raise SettingsError(f"cannot read {path}: it is not UTF-8 text") from failure
    entries, form = _entries(path, text)
    return {name: Given(value, f"file {path}{form}") for name, value in entries.items()}


def _entries(path: Path, text: str) -> tuple[dict[str, str], str]:
    """By the suffix; otherwise a file that is not TOML is a properties file. And a remark, if the
    format was guessed."""
    if path.suffix == ".properties":
        return _properties(path, text), ""
    import tomllib

    try:
        return _flat(path, tomllib.loads(text)), ""
    except tomllib.TOMLDecodeError as failure:
        # flush and flush.interval.ms conflict in TOML unless the longer one is quoted.
        hint = "; write dotted keys in quotes" if "overwrite" in str(failure) else ""
        if path.suffix == ".toml":
            raise SettingsError(f"cannot read {path}: {failure}{hint}") from failure
        entries = _properties(path, text)
        if any(name.startswith(("[", '"')) for name in entries):
            why = f"neither TOML ({failure}{hint}) nor a server.properties"
            raise SettingsError(f"cannot read {path}: {why}") from failure
        return entries, ", not TOML, read as server.properties"


def _properties(path: Path, text: str) -> dict[str, str]:
    try:
        return parse_properties(text)
    except ValueError as failure:
        raise SettingsError(f"cannot read {path}: {failure}") from failure


def _flat(path: Path, table: dict[str, Any]) -> dict[str, str]:
    """Tables and dotted keys are the same thing: [log.retention] ms is log.retention.ms."""
    entries: dict[str, str] = {}
    for name, value in _leaves("", table):
        if name in entries:
            raise SettingsError(f"cannot read {path}: {name} is given twice")
        entries[name] = _text(path, name, value)
    return entries


def _leaves(prefix: str, table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(f"{prefix}{key}.", value)
        else:
            yield prefix + key, value


def _text(path: Path, name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value):
        return ",".join(_text(path, name, item) for item in value)
    raise SettingsError(f"cannot read {path}: {name} is not text, a number, true/false or a list")
