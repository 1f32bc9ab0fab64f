"""Each setting of Java's own client, at its edges; and patterns as Java reads them."""

from __future__ import annotations

import random
import subprocess
from typing import NamedTuple

import pytest

from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.java_numbers import LEVELS, NUMBERS
from interfaces.spark.kafka.java_settings import REFUSED
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_sending import SETTINGS
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.java_pattern import compiled
from tests.e2e.test_java import FOLDER, VERSIONS
from tests.e2e.test_java import compiled as java

NAMES = (
    *("a", "b", "A", "B", "0", "1", "-", "_", ".", "ab", "aa", "a-b", "a1", "a.b", "aab", "abab"),
    *("Ab", "x", "z", "11", "a11", "aa1", "abc", "0a", "a0", "Z_", "..a", "A.a"),
)
#: What librdkafka looks at only where it makes a consumer.
OF_CONSUMERS = ("fetch.max.bytes", "max.poll.interval.ms", "session.timeout.ms")
PARTS = (
    *("a", "b", "A", "0", "-", "_", ".", r"\.", "[", "]", "[^", "&", "&&", "(", "(?:", "(?<n>"),
    *("(?i)", "(?i:", ")", "|", "*", "+", "?", "*?", "++", "{2}", "{1,2}", "^", "$", r"\Q", r"\E"),
    *(r"\z", r"\Z", r"\d", r"\w", r"\W", r"\b", r"\1", r"\2", r"\k<n>", r"\p{Alpha}", r"\P{Alpha}"),
    *(r"\pL", r"\p{Lower}", r"\P{Lu}", r"\p{Punct}", r"\P{ASCII}", "~~", "||", "--", "#", "a-z"),
    *("(?=", "(?!", "(?<=", "(?>", r"\-", r"\]", r"\[", r"\x61", r"\u0062", r"\0141", r"\141"),
    *(r"\11", r"\h", "(?x)", "(?s)", "{", "}", ",", "\\", "[a&&[^b]]", "[[a]b]", "[]a]", "[a-]"),
)


class Setting(NamedTuple):
    client: str
    name: str
    kind: str
    default: str


class Java(NamedTuple):
    settings: list[Setting]
    fitting: list[str]


def some_patterns() -> list[str]:
    chosen = random.Random(20)
    sequences = ["".join(chosen.choices(PARTS, k=chosen.randint(1, 7))) for _ in range(6_000)]
    sets = ["".join(chosen.choices(PARTS, k=chosen.randint(1, 5))) for _ in range(6_000)]
    return [*sequences, *(f"[{inside}]+" for inside in sets)]


@pytest.fixture(scope="module", params=VERSIONS)
def told(request: pytest.FixtureRequest) -> Java:
    command = java(request.param, FOLDER / "Names.java")
    asked = "\n".join((" ".join(NAMES), *some_patterns(), ""))
    answer = subprocess.run(
        command, input=asked, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    settings, _, fitting = answer.stdout.partition("patterns\n")
    return Java([Setting(*s.split("\t")) for s in settings.splitlines()], fitting.splitlines())


def refusal(name: str, value: str, of_consumer: bool = False) -> str:
    """librdkafka knows all of its settings whatever it makes; a producer is made sooner."""
    from confluent_kafka import Consumer, Producer

    try:
        options = KafkaOptions({"kafka.bootstrap.servers": "127.0.0.1:1", f"kafka.{name}": value})
        if of_consumer:
            options.made(Consumer, group_id="g").close()
        else:
            excludes = not may_be_idempotent(options.client())
            options.made(Producer, **SETTINGS | ({"enable_idempotence": False} if excludes else {}))
    except WrongOption as wrong:
        return str(wrong)
    return ""


def test_each_setting_of_java_is_translated_passed_over_or_refused(told: Java) -> None:
    """With its default, which is right for Java; without one, with a word."""
    assert len(told.settings) > 200
    wrong = {}
    for name, kind, default in sorted({each[1:] for each in told.settings}):
        if name == "bootstrap.servers":
            continue
        said = refusal(name, default.strip("[]") or ("5" if kind in ("INT", "LONG") else "x"))
        if name in REFUSED:
            assert said.startswith(f"kafka.{name} cannot be set: ")
        elif said and not default:  # no word would do; the name is known
            assert said.startswith((f"kafka.{name} ", f"kafka.{name}: ", "an option kafka.*: "))
        elif said:
            wrong[name] = said
    assert wrong == {}


def test_each_number_that_java_takes_is_taken(told: Java) -> None:
    known = {setting.name for setting in told.settings}
    wrong = {}
    for name, number in (NUMBERS | LEVELS).items():
        for value in (number.java_least, number.java_most) if name in known else ():
            if said := refusal(name, str(value), of_consumer=name in OF_CONSUMERS):
                wrong[name, value] = said
    assert wrong == {
        ("delivery.timeout.ms", 1): "an option kafka.*: Failed to create producer: "
        "kafka.delivery.timeout.ms must be greater than kafka.linger.ms"
    }


def test_a_pattern_fits_what_it_fits_in_java_or_is_refused(told: Java) -> None:
    both = 0
    for pattern, of_java in zip(some_patterns(), told.fitting, strict=True):
        try:
            ours = compiled(pattern)
        except ValueError:
            continue
        if of_java != "refused":
            both += 1
            assert "".join("01"[bool(ours.fullmatch(name))] for name in NAMES) == of_java, pattern
    assert both > 3_000
