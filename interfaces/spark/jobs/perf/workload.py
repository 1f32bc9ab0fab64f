"""The parameters of a run, as in the workload files of OpenMessaging's benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from pathlib import Path
from typing import Any

from interfaces.spark.jobs.perf.records import LEAST_BYTES
from interfaces.spark.query.failures import WrongOption
from interfaces.suggestions import did_you_mean
from interfaces.terminal.endings import complain

KEYS = ("NO_KEY", "KEY_ROUND_ROBIN", "RANDOM_NANO", "ZIPF")
#: Other parameters of OpenMessaging, which warn.
_NOT_USED = frozenset(
    {
        "useRandomizedPayloads",
        "randomBytesRatio",
        "randomizedPayloadPoolSize",
        "consumerBacklogSizeGB",
        "payloadFile",
    }
)


_SECRET = re.compile(r"password|secret|\.key\.pem|jaas|oauthbearer\.config")


@dataclass(frozen=True)
class Workload:
    name: str = ""
    topics: int = 1
    partitionsPerTopic: int = 4
    messageSize: int = 1024
    #: NO_KEY, KEY_ROUND_ROBIN, RANDOM_NANO, or ZIPF: few keys get most of the records.
    keyDistributor: str = "NO_KEY"
    #: Records a second of all producers together; 0 is as fast as possible.
    producerRate: float = 0.0
    producersPerTopic: int = 2
    subscriptionsPerTopic: int = 1
    consumerPerSubscription: int = 2
    testDurationMinutes: float = 1.0
    warmupDurationMinutes: float = 0.1
    #: Of the clients, in librdkafka's names: compression.type, linger.ms, acks ...
    producer: Mapping[str, Any] = field(default_factory=dict)
    consumer: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("topics", "partitionsPerTopic", "producersPerTopic"):
            _at_least(name, getattr(self, name), 1)
        for name in ("subscriptionsPerTopic", "consumerPerSubscription"):
            _at_least(name, getattr(self, name), 0)
        _at_least("messageSize", self.messageSize, LEAST_BYTES)
        for name in ("producerRate", "warmupDurationMinutes"):
            _at_least(name, getattr(self, name), 0)
        if not 0 < self.testDurationMinutes <= 60 * 24:
            raise WrongOption(
                f"testDurationMinutes: {self.testDurationMinutes:g} is not above 0 and up to a day"
            )
        if self.keyDistributor not in KEYS:
            raise WrongOption(
                f"keyDistributor: {self.keyDistributor!r} is none of {', '.join(KEYS)}"
            )
        if not self.name:
            object.__setattr__(self, "name", self._described())

    def _described(self) -> str:
        rate = f"{self.producerRate:g}/s" if self.producerRate else "as fast as possible"
        return (
            f"{self.topics} topic{'s' * (self.topics > 1)}, {self.partitionsPerTopic} partitions, "
            f"{self.messageSize} bytes, {rate}"
        )

    @property
    def seconds(self) -> float:
        return self.testDurationMinutes * 60

    @property
    def warm_up_s(self) -> float:
        return self.warmupDurationMinutes * 60

    @property
    def producers(self) -> int:
        return self.topics * self.producersPerTopic

    @property
    def tasks(self) -> int:
        """Producers and consumers, which run at once."""
        members = min(self.consumerPerSubscription, self.partitionsPerTopic)
        return self.topics * (self.producersPerTopic + self.subscriptionsPerTopic * members)

    def to_json(self) -> dict[str, Any]:
        """Without passwords and keys: results are published."""
        whole = asdict(self)
        for client in ("producer", "consumer"):
            for name in filter(_SECRET.search, whole[client]):
                whole[client][name] = "(hidden)"
        return whole


def load(file: str | None, **given: Any) -> Workload:
    """From a YAML file, and the command line, which wins."""
    settings: dict[str, Any] = dict(_read(file)) if file else {}
    settings |= {name: value for name, value in given.items() if value is not None}
    kinds = {each.name: each.type for each in fields(Workload)}
    known = {}
    for name, value in settings.items():
        if name in kinds:
            known[name] = _as(kinds[name], name, value)
        elif name in _NOT_USED:
            if value:
                complain(f"{name} is ignored: records are random bytes, and read at once")
        else:
            hint = did_you_mean(name, kinds)
            raise WrongOption(f"unknown parameter {name!r} of a workload{hint}")
    return Workload(**known)


def _read(file: str) -> Mapping[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(Path(file).read_text("utf-8"))
    except OSError as failure:
        raise WrongOption(f"{file} cannot be read: {failure.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as failure:
        raise WrongOption(f"{file} is no YAML: {' '.join(str(failure).split())}") from None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise WrongOption(f"{file} is no workload: it is no mapping of names to values")
    return found


def _as(kind: Any, name: str, value: Any) -> Any:
    if kind == "str" and isinstance(value, str):
        return value
    if kind.startswith("Mapping") and isinstance(value, dict):
        return {str(key): each for key, each in value.items()}
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "int" and whole:
        return value
    # YAML reads 1e6 as a string.
    if kind == "float" and not isinstance(value, bool):
        with suppress(TypeError, ValueError):
            if isfinite(number := float(value)):
                return number
    expected = {"str": "a string", "int": "a whole number", "float": "a number"}
    raise WrongOption(f"{name}: {value!r} is not {expected.get(kind, 'a mapping')}")


def _at_least(name: str, value: float, least: int) -> None:
    if value < least:
        raise WrongOption(f"{name}: {value} is less than {least}")
