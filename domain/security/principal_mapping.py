"""`ssl.principal.mapping.rules`: the user name that a distinguished name means, as in Kafka."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_PARSER = re.compile(_RULE)
_SPLITTER = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)")
#: Java's names of groups.
_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z])")
#: A reference to a group, or an escaped character.
_REFERENCE = re.compile(r"\\(?P<escaped>.)|\$(?P<digits>\d+)|\$\{(?P<name>\w+)\}", re.DOTALL)


class NoMatchingRule(Exception):
    """No rule applies to the name; the client is refused."""


class _Rule(NamedTuple):
    #: None: the whole name.
    pattern: re.Pattern[str] | None
    replacement: str
    case: str

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        changed = self.pattern.sub(self._expanded, name)
        if self.case == "L":
            return changed.lower()
        return changed.upper() if self.case == "U" else changed

    def _expanded(self, found: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda reference: _value(reference, found), self.replacement)


def _value(reference: re.Match[str], found: re.Match[str]) -> str:
    if (escaped := reference["escaped"]) is not None:
        return str(escaped)
    if (name := reference["name"]) is not None:
        return found[name] or ""
    digits = reference["digits"]
    for end in range(len(digits), 0, -1):
        if (number := int(digits[:end])) <= found.re.groups:
            return (found[number] or "") + digits[end:]
    if not found.re.groups:
        raise NoMatchingRule(f"a rule of ssl.principal.mapping.rules has no group {reference[0]}")
    return str(reference[0])


class PrincipalMapper:
    def __init__(self, rules: str) -> None:
        """Raises ValueError with the expected text."""
        parsed = (_parsed(found[1]) for found in _SPLITTER.finditer(rules.strip()) if found[1])
        self._rules: Sequence[_Rule] = list(parsed)

    def name_of(self, distinguished_name: str) -> str:
        """Raises NoMatchingRule."""
        for rule in self._rules:
            name = rule.apply(distinguished_name)
            if name is not None:
                return name
        raise NoMatchingRule(f"no rule of ssl.principal.mapping.rules fits {distinguished_name}")


def _parsed(text: str) -> _Rule:
    found = _PARSER.match(text)
    if found is None or found.end() != len(text):
        raise ValueError(f"RULE:pattern/replacement/[LU] or DEFAULT, not {text!r}")
    if found[1] is not None:
        return _Rule(None, "", "")
    try:
        pattern = re.compile(_NAMED_GROUP.sub("(?P<", found[2]))
    except re.error as failure:
        raise ValueError(f"a regular expression in {text!r}: {failure}") from failure
    return _Rule(pattern, found[3], found[4])
