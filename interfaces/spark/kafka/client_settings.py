"""Settings of a Kafka client as Java spells them, for librdkafka, which reads and writes here.

Most are the same in both. What only the Java client has, and changes nothing of what is read or
written, is left out; what cannot be the same is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from interfaces.spark.kafka.java_numbers import LEVELS, NUMBERS, number_for_librdkafka
from interfaces.spark.kafka.java_settings import (
    CHOICES,
    FLAGS,
    INTERNAL,
    PASSED_OVER,
    REFUSED,
    RENAMED,
    SAME,
)
from interfaces.spark.kafka.tls_settings import tls_settings
from interfaces.spark.query.failures import WrongOption

#: What librdkafka wants a consumer's fetch.max.bytes to be at least, unless it is told otherwise.
_MESSAGE_MAX_BYTES = 1_000_000
#: Java's defaults, which are librdkafka's or ours, too.
_REQUEST_TIMEOUT_MS, _DELIVERY_TIMEOUT_MS = 30_000, 120_000
_SESSION_TIMEOUT_MS, _POLL_INTERVAL_MS, _RECONNECT_BACKOFF_MS = 45_000, 300_000, 50
_MOST_IN_FLIGHT = 5

#: librdkafka calls some by an older name when it complains of them.
_JAVAS_NAMES = {
    **{number.name: name for name, number in NUMBERS.items()},
    **{theirs: name for name, theirs in RENAMED.items()},
    "compression.codec": "compression.type",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "message.send.max.retries": "retries",
    "message.timeout.ms": "delivery.timeout.ms",
    "queue.buffering.max.ms": "linger.ms",
    "request.required.acks": "acks",
    "sasl.mechanisms": "sasl.mechanism",
}
_NAMED = re.compile(r"(?<!value )[\"`]([a-z]+(?:\.[a-z0-9]+)+|acks|retries)[\"`]")
_KNOWN = (*SAME, *NUMBERS, *CHOICES, *FLAGS, *LEVELS, *RENAMED, *PASSED_OVER)
_OF_SOURCE = re.compile(r"(?<![\w.'-])(option )?kafka\.([a-z0-9]+(?:\.[a-z0-9]+)+)")
_LOGIN_MODULE = re.compile(r"\s*[\w.$]*?(\w+)\s+(?:required|requisite|sufficient|optional)\b(.*)")
_LOGIN_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))')


def for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """`given` is without the prefix `kafka.`; raises WrongOption, which names it with it."""
    translated: dict[str, str] = {}
    tls: dict[str, str] = {}
    for name, value in given.items():
        if why := _refusal(name):
            raise WrongOption(f"kafka.{name} cannot be set: {why}")
        if name in PASSED_OVER or name.startswith(INTERNAL):
            continue
        if name.startswith("ssl."):
            tls[name] = value
        elif name == "sasl.jaas.config":
            translated |= login(value)
        else:
            translated |= _translated(name, value)
    if level := _level(given):
        translated.setdefault("compression.level", level)
    _widen(given, translated)
    _require_mechanism(translated)
    return translated | tls_settings(tls)


def _refusal(name: str) -> str:
    providers = "config.providers"
    return REFUSED.get(providers if name.startswith(f"{providers}.") else name, "")


def _translated(name: str, value: str) -> dict[str, str]:
    if name in NUMBERS:
        return dict([number_for_librdkafka(name, value)])
    if name in LEVELS:
        number_for_librdkafka(name, value)
        return {}
    if name in CHOICES:
        return {name: _one_of(name, value, CHOICES[name])}
    if name in FLAGS:
        return _flag(name, _one_of(name, value, ("true", "false")))
    return {RENAMED.get(name, name): value}


def _one_of(name: str, value: str, values: Sequence[str]) -> str:
    """Case tells nothing apart; librdkafka takes these in lower case."""
    chosen = value.strip().lower()
    if chosen not in values:
        raise WrongOption(f"kafka.{name}: {value!r} is none of {', '.join(values)}")
    return chosen


def _flag(name: str, value: str) -> dict[str, str]:
    if name == "partitioner.ignore.keys":
        return {"partitioner": "random"} if value == "true" else {}
    if name == "sasl.oauthbearer.header.urlencode":
        if value == "true":
            raise WrongOption(f"kafka.{name} cannot be true: librdkafka does not do it")
        return {}
    return {name: value}


def _level(given: Mapping[str, str]) -> str | None:
    """Of the codec that is used; librdkafka has one for all of them."""
    name = f"compression.{given.get('compression.type', '').strip().lower()}.level"
    return number_for_librdkafka(name, given[name])[1] if name in given else None


def _widen(given: Mapping[str, str], translated: dict[str, str]) -> None:
    """What librdkafka refuses together, and Java does not."""
    if "fetch.max.bytes" in given:
        least = _whole(translated, "message.max.bytes", _MESSAGE_MAX_BYTES)
        translated["fetch.max.bytes"] = str(max(int(translated["fetch.max.bytes"]), least))
    timeouts = ("delivery.timeout.ms", "message.timeout.ms")
    if "linger.ms" in given and not translated.keys() & set(timeouts):
        request_ms = _whole(translated, "socket.timeout.ms", _REQUEST_TIMEOUT_MS)
        needed = int(float(translated["linger.ms"])) + request_ms
        if needed > _DELIVERY_TIMEOUT_MS:
            translated["delivery.timeout.ms"] = str(needed)
    if given.keys() & {"session.timeout.ms", "max.poll.interval.ms"}:
        session_ms = _whole(translated, "session.timeout.ms", _SESSION_TIMEOUT_MS)
        poll_ms = _whole(translated, "max.poll.interval.ms", _POLL_INTERVAL_MS)
        translated["max.poll.interval.ms"] = str(max(session_ms, poll_ms))
    if given.keys() & {"reconnect.backoff.ms", "reconnect.backoff.max.ms"}:
        first_ms = _whole(translated, "reconnect.backoff.ms", _RECONNECT_BACKOFF_MS)
        most_ms = _whole(translated, "reconnect.backoff.max.ms", first_ms)
        translated["reconnect.backoff.ms"] = str(min(first_ms, most_ms))
        translated["reconnect.backoff.max.ms"] = str(most_ms)


def _whole(settings: Mapping[str, str], name: str, default: int) -> int:
    """One by librdkafka's name may be anything: it is told of it later."""
    said = settings.get(name, "")
    return int(said) if said.isdecimal() else default


def may_be_idempotent(producer: Mapping[str, object]) -> bool:
    """Java does without it where another setting excludes it. Some of these have two names."""

    def said(*names: str) -> str:
        return next((str(producer[name]) for name in names if name in producer), "")

    in_flight = said("max.in.flight.requests.per.connection", "max.in.flight")
    return (
        said("acks", "request.required.acks") not in ("0", "1")
        and said("retries", "message.send.max.retries") != "0"
        and not (in_flight.isdecimal() and int(in_flight) > _MOST_IN_FLIGHT)
    )


def _require_mechanism(settings: Mapping[str, str]) -> None:
    """Without one both take GSSAPI, which librdkafka has not got here."""
    if settings.get("security.protocol", "").upper().startswith("SASL") and not (
        settings.keys() & {"sasl.mechanism", "sasl.mechanisms"}
    ):
        raise WrongOption(
            "kafka.sasl.mechanism is missing: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
        )


def login(jaas: str) -> dict[str, str]:
    """User and password out of a line of JAAS."""
    found = _LOGIN_MODULE.match(jaas)
    if not found:
        raise WrongOption(
            "kafka.sasl.jaas.config is not understood; "
            '`org.apache.kafka.common.security.plain.PlainLoginModule required username="u" '
            'password="p";` is an example'
        )
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) if quoted else plain
        for name, quoted, plain in _LOGIN_OPTION.findall(found[2])
    }
    module = found[1]
    if module in ("PlainLoginModule", "ScramLoginModule"):
        missing = {"username", "password"} - options.keys()
        if missing:
            raise WrongOption(f"kafka.sasl.jaas.config has no {' and no '.join(sorted(missing))}")
        return {"sasl.username": options["username"], "sasl.password": options["password"]}
    raise WrongOption(
        f"kafka.sasl.jaas.config: {module} cannot be used; PlainLoginModule and ScramLoginModule "
        "can, and kafka.sasl.oauthbearer.method=oidc is how librdkafka gets a token"
    )


def in_javas_names(said: str, given: Iterable[str]) -> str:
    """What librdkafka says of settings, by the names that they were `given` by."""

    def named(found: re.Match[str]) -> str:
        name = found[1]
        java = _JAVAS_NAMES.get(name, name)
        return f"kafka.{name if name in given and java not in given else java}"

    return _NAMED.sub(named, said)


def on_command_line(said: str) -> str:
    """As jobs take them: names of settings begin with nothing, behind -X."""

    def named(found: re.Match[str]) -> str:
        before = found[1] or ""
        if found[2] == "bootstrap.servers":
            return f"{before}--bootstrap-server"
        is_setting = before or found[2] in _KNOWN or found[2] in REFUSED
        return f"{before}-X {found[2]}" if is_setting else found[0]

    return _OF_SOURCE.sub(named, said).replace("subscribePattern: ", "--pattern: ")


def suggestion(name: str) -> str:
    """For a setting that librdkafka does not know."""
    close = get_close_matches(name, _KNOWN, 1, 0.8)
    return f"; did you mean kafka.{close[0]}?" if close else ""
