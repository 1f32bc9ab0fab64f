"""Types of options for argparse; each raises ArgumentTypeError."""

from __future__ import annotations

import argparse

from interfaces.terminal.durations import milliseconds


def key_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, not {text!r}")
    return name.strip(), value


def at_least_one(text: str) -> int:
    return _whole_number(text, 1)


def not_negative(text: str) -> int:
    return _whole_number(text, 0)


def _whole_number(text: str, least: int) -> int:
    try:
        found = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if found < least:
        raise argparse.ArgumentTypeError(f"{found} is less than {least}")
    return found


def seconds(text: str) -> float:
    """More than 0; a number without a unit is seconds."""
    found = seconds_or_none(text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected a time of more than 0, not {text!r}")
    return found


def seconds_or_none(text: str) -> float:
    try:
        return milliseconds(text, "s") / 1000
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None
