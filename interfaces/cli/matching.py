"""Which records `ottla consume` prints: --grep and --where."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator

from domain.messages.json_condition import all_match, json_condition
from interfaces.cli.failures import UsageError
from interfaces.cli.format import Printed


def matcher(parsed: argparse.Namespace) -> Callable[[Printed], bool] | None:
    """None without a condition; several have to match all."""
    if not parsed.grep and not parsed.where:
        return None
    try:
        patterns = [re.compile(text.encode()) for text in parsed.grep or ()]
    except re.error as wrong:
        raise UsageError(f"--grep: invalid regular expression: {wrong}") from None
    try:
        conditions = [json_condition(text) for text in parsed.where or ()]
    except ValueError as wrong:
        raise UsageError(f"--where: {wrong}") from None

    def matches(message: Printed) -> bool:
        return all(any(map(pattern.search, _texts(message))) for pattern in patterns) and (
            not conditions or all_match(conditions, message.value())
        )

    return matches


def _texts(message: Printed) -> Iterator[bytes]:
    yield message.value() or b""
    yield message.key() or b""
    for name, value in message.headers() or ():
        yield name.encode()
        yield value or b""
