"""Definition: one row of the tables of settings and configs, and how text becomes its value.

The text comes from a client or a file. Refusals have Kafka's words: tools print them, and people
search for them. DescribeConfigs, validation and docs/settings.md read these rows only.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, NamedTuple

from domain.errors import InvalidConfig

Value = bool | int | float | str | tuple[str, ...] | None

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1

# Java's numbers: no underscores, no spaces inside; twenty digits are more than a long can hold.
_WHOLE = re.compile(r"[+-]?\d{1,20}")
_DECIMAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?")
# What String.trim() removes.
_JAVA_BLANKS = "".join(map(chr, range(33)))


class Kind(Enum):
    BOOLEAN = "BOOLEAN"
    INT = "INT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    LIST = "LIST"
    PASSWORD = "PASSWORD"


class Effect(Enum):
    """Whether setting a value changes anything, so that no setting looks obeyed when it is not."""

    BUILT = "yes"
    #: None, because
    NO_PEERS = "brokers do not talk to each other"
    NO_COPIES = "replicas hold no copies"
    DEFAULT_FACTOR = "default.replication.factor decides"
    ONE_PROCESS = "one process does this work"
    NO_SEGMENTS = "there are no segment files"
    NO_TIERS = "there is no tiered storage"
    AT_ONCE = "changes are seen at once"
    FLUSH = "the setting flush decides"

    @property
    def word(self) -> str:
        return "yes" if self is Effect.BUILT else "none"


class Source(Enum):
    """ConfigSource of DescribeConfigs: where a value comes from."""

    TOPIC = "topic"
    GROUP = "group"
    DYNAMIC_BROKER = "dynamic, this broker"
    DYNAMIC_DEFAULT_BROKER = "dynamic, all brokers"
    STATIC_BROKER = "command line, environment or file"
    DEFAULT = "default"


class Synonym(NamedTuple):
    """ConfigSynonym of DescribeConfigs: one place where a value is set, or a default."""

    name: str
    #: None for a sensitive setting.
    text: str | None
    source: Source


class Definition:
    __slots__ = (
        "also",
        "choices",
        "default",
        "doc",
        "dynamic",
        "effect",
        "kind",
        "maximum",
        "minimum",
        "name",
        "per_listener",
        "sensitive",
        "synonyms",
        "unit",
    )

    def __init__(
        self,
        name: str,
        kind: Kind,
        default: Value,
        doc: str,
        *,
        minimum: float | None = None,
        maximum: int | None = None,
        also: int | tuple[()] | None = None,
        choices: tuple[str, ...] = (),
        unit: str = "",
        synonyms: tuple[str, ...] = (),
        dynamic: bool = False,
        sensitive: bool = False,
        per_listener: bool = False,
        effect: Effect = Effect.BUILT,
    ) -> None:
        self.name = name
        self.kind = kind
        #: None: another setting decides (see `doc`).
        self.default = default
        self.doc = doc
        self.minimum = minimum
        self.maximum = maximum
        #: One legal value outside minimum and maximum; for a list with choices, whether it may be
        #: empty.
        self.also = also
        self.choices = choices
        self.unit = unit
        #: Of a topic or group config: the broker settings that are its default, the first that is
        #: set. Of a broker setting: the settings of the same value in other units.
        self.synonyms = synonyms
        #: Whether it may change while the broker runs.
        self.dynamic = dynamic
        #: A password, or a URL that may contain one: DescribeConfigs omits the value.
        self.sensitive = sensitive or kind is Kind.PASSWORD
        #: Whether `listener.name.NAME.` in front of it sets it for one listener.
        self.per_listener = per_listener
        self.effect = effect

    def parse(self, text: str) -> Value:
        value = self._convert(text)
        self._check(value)
        return value

    def format(self, value: Value) -> str | None:
        """The value as Kafka's tools print it."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        return str(value).replace("e+", "E")  # Java's way

    @property
    def documentation(self) -> str:
        """The doc, and why the setting has no effect in this broker."""
        if self.effect is Effect.BUILT:
            return self.doc
        return f"{self.doc} (No effect in Ottla: {self.effect.value}.)"

    @property
    def warning(self) -> str:
        """For the client that sets it."""
        return f"{self.name} has no effect in this broker: {self.effect.value}"

    def lacks_effect(self, text: str) -> bool:
        """Whether a client that sets this value would expect more than the broker does."""
        return self.effect is not Effect.BUILT and not self.is_harmless(text)

    def is_harmless(self, text: str) -> bool:
        """The default, which files and tools often spell out.

        A value that only other brokers allow is not: the CLI asks for those of any broker.
        """
        try:
            return self.parse(text) == self.default
        except InvalidConfig:
            return False

    def allowed(self) -> str:
        """The allowed values, for messages and docs."""
        if self.choices:
            joined = ", ".join(choice or "empty" for choice in self.choices)
            words = f"any of {joined}" if self.kind is Kind.LIST else f"one of {joined}"
            return f"{words}, or empty" if self.also == () else words
        if self.kind is Kind.BOOLEAN:
            return "true or false"
        if self.kind in (Kind.STRING, Kind.LIST, Kind.PASSWORD):
            return "a list, separated by commas" if self.kind is Kind.LIST else "text"
        return self._number_allowed()

    def _number_allowed(self) -> str:
        noun = "a number" if self.kind is Kind.DOUBLE else "a whole number"
        upper = self.maximum
        if upper is None and self.kind is Kind.INT:
            upper = INT_MAX
        words = noun
        if self.minimum is not None and upper is not None:
            words = f"{noun} between {self.minimum} and {upper}"
        elif self.minimum is not None:
            words = f"{noun} of at least {self.minimum}"
        elif upper is not None:
            words = f"{noun} of no more than {upper}"
        return words if self.also is None else f"{words}, or {self.also}"

    def _convert(self, text: str) -> Value:
        trimmed = text.strip(_JAVA_BLANKS)
        if self.kind in (Kind.STRING, Kind.PASSWORD):
            return trimmed
        if self.kind is Kind.LIST:
            return self._items(trimmed)
        if self.kind is Kind.BOOLEAN:
            lowered = trimmed.lower()
            if lowered not in ("true", "false"):
                raise self.refused(text, "Expected value to be either true or false")
            return lowered == "true"
        if self.kind is Kind.DOUBLE:
            if (decimal := _DECIMAL.fullmatch(trimmed)) is None:
                raise self.refused(text, "Not a number of type DOUBLE")
            return float(decimal[1])
        return self._whole(text, trimmed)

    def _whole(self, text: str, trimmed: str) -> int:
        limit = INT_MAX if self.kind is Kind.INT else LONG_MAX
        if _WHOLE.fullmatch(trimmed) and -limit - 1 <= (number := int(trimmed)) <= limit:
            return number
        raise self.refused(text, f"Not a number of type {self.kind.value}")

    def _items(self, trimmed: str) -> tuple[str, ...]:
        if not trimmed:
            return ()
        items = tuple(dict.fromkeys(item.strip(_JAVA_BLANKS) for item in trimmed.split(",")))
        if "" in items:
            raise InvalidConfig(f"Configuration '{self.name}' values must not be empty.")
        return items

    def _check(self, value: Value) -> None:
        if self.choices:
            if value == () != self.also:
                raise InvalidConfig(
                    f"Configuration '{self.name}' must not be empty. Valid values include: "
                    f"[{', '.join(self.choices)}]"
                )
            for word in value if isinstance(value, tuple) else (value,):
                if word not in self.choices:
                    raise self.refused(word, f"String must be one of: {', '.join(self.choices)}")
        if isinstance(value, (int, float)) and value != self.also:
            self._check_bounds(value)

    def _check_bounds(self, value: int | float) -> None:
        low, high = self.minimum, self.maximum
        too_low = low is not None and value < low
        too_high = high is not None and value > high
        if (too_low or too_high) and self.also is not None and high is not None:
            words = f"Value must be between {low} and {high} or equal to {self.also}"
            raise self.refused(value, words)
        if too_low:
            raise self.refused(value, f"Value must be at least {low}")
        if too_high:
            raise self.refused(value, f"Value must be no more than {high}")

    def refused(self, value: Value, why: str) -> InvalidConfig:
        return InvalidConfig(f"Invalid value {value} for configuration {self.name}: {why}")


def setting(name: str, kind: Kind, default: Value, doc: str, **facts: Any) -> Any:
    """A row of the broker settings; an instance of BrokerConfig has the value in its place."""
    return Definition(name, kind, default, doc, **facts)
