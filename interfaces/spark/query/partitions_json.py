"""JSON of options: {"topic": [0, 1]} and {"topic": {"0": 23, "1": -2}}."""

from __future__ import annotations

import json
from typing import Any

from interfaces.spark.query.failures import WrongOption
from interfaces.spark.query.ranges import Place

_INT32, _INT64 = 2**31, 2**63


def partitions_of(option: str, text: str) -> list[Place]:
    example = '{"topic": [0, 1]}'
    found: list[Place] = []
    for topic, numbers in _object(option, text, example).items():
        if not isinstance(numbers, list):
            raise WrongOption(f"{option}: topic {topic!r} needs a list, like {example}")
        found += [Place(topic, _partition(option, topic, number)) for number in numbers]
    if not found:
        raise WrongOption(f"{option}: no partition; expected JSON like {example}")
    return sorted(set(found))


def numbers_of(option: str, text: str) -> dict[Place, int]:
    example = '{"topic": {"0": 23, "1": 5}}'
    found: dict[Place, int] = {}
    for topic, values in _object(option, text, example).items():
        if not isinstance(values, dict):
            raise WrongOption(f"{option}: topic {topic!r} needs an object, like {example}")
        for name, value in values.items():
            number = int(name) if name.isdecimal() and len(name) < 11 else name
            place = Place(topic, _partition(option, topic, number))
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= _INT64:
                raise WrongOption(f"{option}: {value!r} of {place} is not an integer")
            found[place] = value
    return found


def _object(option: str, text: str, example: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as wrong:
        raise WrongOption(f"{option}: {text!r} is not JSON like {example}: {wrong}") from None
    if not isinstance(read, dict):
        raise WrongOption(f"{option}: {text!r} is not JSON like {example}")
    return read


def _partition(option: str, topic: str, number: object) -> int:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole or not 0 <= number < _INT32:  # type: ignore[operator]
        raise WrongOption(f"{option}: {number!r} of topic {topic!r} is not a partition")
    return number  # type: ignore[return-value]
