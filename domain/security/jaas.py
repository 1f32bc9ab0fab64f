"""A line of JAAS, as in `sasl.jaas.config`: `MODULE required user_ann="..." user_bob="...";`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(
    r"\s*[\w.$]+\s+(?:required|requisite|sufficient|optional)\b(?P<options>.*);\s*",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(
    r'\s+(?P<key>[^\s=;"]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s;"]+))'
)
_USER = "user_"

EXPECTED = (
    "one login module with its options, like `org.apache.kafka.common.security.plain."
    'PlainLoginModule required user_NAME="...";`'
)


def options_of(line: str) -> dict[str, str]:
    """Raises ValueError with the expected text; it has nothing of the line, which has passwords."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(EXPECTED)
    rest, options, position = found["options"], {}, 0
    while rest[position:].strip():
        option = _OPTION.match(rest, position)
        if option is None:
            raise ValueError(EXPECTED)
        quoted = option["quoted"]
        value = option["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[option["key"]] = value
        position = option.end()
    return options


def plain_users(line: str | None) -> Mapping[str, str]:
    """The users of Kafka's PlainLoginModule, with their passwords."""
    if line is None:
        return {}
    return {
        name.removeprefix(_USER): password
        for name, password in options_of(line).items()
        if name.startswith(_USER)
    }
