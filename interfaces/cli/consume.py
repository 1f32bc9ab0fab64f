"""`ottla consume`: from assigned partitions between any two positions, or as a group member."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from domain.errors import InvalidTopic
from domain.topics.topic import check_topic_name
from interfaces.cli.client import Clients, no_topic
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.format import printer
from interfaces.cli.json_lines import json_line
from interfaces.cli.matching import matcher
from interfaces.cli.output import check_stdout
from interfaces.cli.positions import (
    END,
    OFFSET,
    PLUS,
    START,
    Place,
    bounds_of,
    chosen,
    range_of,
    resolved,
)
from interfaces.cli.progress import Progress, stays_silent
from interfaces.cli.unreadable import OPTIONS, Unreadable
from interfaces.terminal.client_errors import in_words
from interfaces.terminal.reachable import why_not

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: Of confluent-kafka, whose stubs type every field as optional.
Message: TypeAlias = "Any"
#: What is printed of a record; None: it is not one of the requested.
Form: TypeAlias = "Callable[[Message], bytes | None]"

_AT_ONCE = 500
_LOOK_EVERY_S = 0.25
#: Refusals of a commit that consumers of Kafka repeat.
_RETRIED = frozenset(
    (
        *("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
        *("REQUEST_TIMED_OUT", "_WAIT_COORD", "_TRANSPORT", "_TIMED_OUT"),
    )
)
_RESET = {START: "earliest", END: "latest"}


class NoSuchTopic(Exception):
    """`name`: of the topic, if it is no pattern."""

    def __init__(self, why: str, name: str | None = None) -> None:
        super().__init__(why)
        self.name = name


def consume(parsed: argparse.Namespace) -> int:
    form = form_of(parsed)
    reading = _as_member(parsed, form) if parsed.group else assigned(parsed, form)
    reading.run(parsed.number, parsed.idle)
    return 0


def form_of(parsed: argparse.Namespace) -> Form:
    if parsed.output == "json" or parsed.format == "json":
        if parsed.format not in (None, "json"):
            raise UsageError("-f is for text output; --output json prints all fields")
        form: Form = json_line
    else:
        form = printer(parsed.format if parsed.format is not None else "%v\\n")
    matches = matcher(parsed)
    return form if matches is None else lambda message: form(message) if matches(message) else None


class Reading:
    """Prints records until a number, the end, a stop offset, or an interrupt."""

    def __init__(
        self,
        clients: Clients,
        consumer: Consumer,
        form: Form,
        *,
        exit_at_end: bool,
        group: str | None = None,
    ) -> None:
        self._clients = clients
        self._consumer = consumer
        self._form = form
        self.out: BinaryIO = sys.stdout.buffer
        self._exit = exit_at_end
        self._group = group
        self._in_group = group is not None
        automatic = clients.options.get("enable.auto.commit", "true")
        self._commits = self._in_group and str(automatic).lower() == "true"
        #: The stop offset of partitions that have one.
        self.stops: dict[Place, int] = {}
        #: Partitions that are not at their end or stop offset.
        self.open: set[Place] = set()
        #: The most offsets to come, if known.
        self.offsets = sys.maxsize
        self._down_since: float | None = None
        self._next_probe = 0.0
        self._unreadable = Unreadable(clients)

    def run(self, number: int | None, idle_s: float | None = None) -> int:
        """Prints records and closes the consumer; returns how many."""
        most = sys.maxsize if number is None else number
        try:
            return most - self._run(most, idle_s)
        finally:
            self.close()

    def _run(self, left: int, idle_s: float | None) -> int:
        total = min(left, self.offsets)
        last = time.monotonic()
        with Progress("consume", total, enabled=total < sys.maxsize and stays_silent()) as progress:
            while left and not self._is_done():
                messages = self._next(left)
                if messages:
                    last = time.monotonic()
                    self._down_since = None
                    left -= self._print(messages, left)
                    progress.step(len(messages))
                elif idle_s is not None and time.monotonic() - last > idle_s:
                    self._unreadable.check()
                    break
                else:
                    if self._waits_for_group():
                        self._clients.diagnose_silence()
                    check_stdout()
                    self._check_connection()
                self._unreadable.look()
        return left

    def _is_done(self) -> bool:
        return (self._exit or bool(self.stops)) and not self.open and not self._waits_for_group()

    def _waits_for_group(self) -> bool:
        return self._in_group and not self._consumer.assignment()

    def _next(self, most: int) -> list[Message]:
        """Waits for one message, and returns what has arrived with it."""
        first = self._consumer.poll(_LOOK_EVERY_S)
        if first is None:
            return []
        rest = min(most, _AT_ONCE) - 1
        return [first, *(self._consumer.consume(rest, 0) if rest else ())]

    def _print(self, messages: list[Message], most: int) -> int:
        printed = 0
        for message in messages:
            if message.error() is not None:
                self._failed(message)
                continue
            place = (message.topic(), message.partition())
            stop = self.stops.get(place)
            if stop is not None and message.offset() >= stop:
                self.open.discard(place)
                continue
            if printed == most:
                break
            line = self._form(message)
            if line is not None:
                self.out.write(line)
                printed += 1
            if self._in_group:
                self._consumer.store_offsets(message)
            if stop is not None and message.offset() + 1 >= stop:
                self.open.discard(place)
        self.out.flush()
        return printed

    def _failed(self, message: Message) -> None:
        from confluent_kafka import KafkaError

        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            place = (message.topic(), message.partition())
            if self._exit:
                self.open.discard(place)
        elif error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED and not self._in_group:
            pass  # librdkafka looks for the coordinator of the group, which is not used
        elif error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._down_since = self._down_since or time.monotonic()
        elif error.fatal() or not error.retriable():
            where = f"topic {message.topic()} partition {message.partition()}: "
            raise CommandFailed(f"{where if message.topic() else ''}{in_words(error)}")

    def _check_connection(self) -> None:
        """Ends a consume without a broker after --timeout; librdkafka retries for ever."""
        now = time.monotonic()
        if self._clients.is_down:
            self._clients.is_down = False
            self._down_since = self._down_since or now
        if self._down_since is None or now < self._next_probe:
            return
        self._next_probe = now + 1
        if any(why_not(address, 1) is None for address in self._clients.addresses()):
            self._down_since = None
        elif now - self._down_since > self._clients.timeout_s:
            raise CommandFailed(
                f"{self._clients.servers} has been down for {self._clients.timeout_s:g} s: "
                f"{self._clients.newest_error}"
            )

    def close(self) -> None:
        try:
            if self._commits and not isinstance(sys.exc_info()[1], CommandFailed):
                self._commit()
        finally:
            self._consumer.close()

    def _commit(self) -> None:
        """Closing a consumer of librdkafka commits, too, but does not report a refusal."""
        from confluent_kafka import KafkaError, KafkaException

        deadline = time.monotonic() + self._clients.timeout_s
        while True:
            try:
                committed = self._consumer.commit(asynchronous=False)
                refused = next((one.error for one in committed if one.error is not None), None)
                if refused is None:
                    return
                error = KafkaError(refused.code())
            except KafkaException as failure:
                error = KafkaError(failure.args[0].code())  # without a text of the client
            if error.name() == "_NO_OFFSET":
                return
            if error.name() not in _RETRIED or time.monotonic() > deadline:
                raise CommandFailed(
                    f"the offsets of group {self._group} were not committed: {in_words(error)}"
                )
            time.sleep(_LOOK_EVERY_S)


def _options(parsed: argparse.Namespace) -> dict[str, Any]:
    return {"isolation_level": parsed.isolation, "fetch_wait_max_ms": 100, **OPTIONS}


def assigned(parsed: argparse.Namespace, form: Form) -> Reading:
    from confluent_kafka import TopicPartition

    first, stop = range_of(parsed.offset or "start")
    clients = Clients(parsed)
    consumer = clients.consumer(**_options(parsed))
    reading = Reading(clients, consumer, form, exit_at_end=parsed.exit)
    try:
        places = [
            place
            for topic in existing_topics(clients, consumer, parsed)
            for place in chosen(clients, consumer, topic, parsed.partitions)
        ]
        admin = clients.admin()
        at_first, at_stop = bounds_of(clients, admin, places, first, stop)
        start = {place: resolved(first, at_first[place]) for place in places}
        if stop is not None:
            for place in places:
                # Waits for a stop offset beyond the end, but not with --exit.
                waits = stop.kind == OFFSET and not parsed.exit
                if stop.kind == PLUS:
                    end = start[place] + stop.value
                else:
                    end = stop.value if waits else resolved(stop, at_stop[place])
                reading.stops[place] = end
        reading.open = {
            place for place in places if start[place] < reading.stops.get(place, sys.maxsize)
        }
        if parsed.exit:
            # Empty partitions are at their end.
            reading.open = {p for p in reading.open if start[p] < at_first[p].end}
            reading.offsets = sum(
                min(at_first[p].end, reading.stops.get(p, sys.maxsize)) - start[p]
                for p in reading.open
            )
        elif reading.stops:
            reading.offsets = sum(reading.stops[p] - start[p] for p in reading.open)
        if reading.open or not (parsed.exit or reading.stops):
            assigned = reading.open or places
            consumer.assign([TopicPartition(*place, start[place]) for place in assigned])
    except BaseException:
        reading.close()
        raise
    return reading


def _as_member(parsed: argparse.Namespace, form: Form) -> Reading:
    first, stop = range_of(parsed.offset or "start")
    if first.kind not in _RESET or stop is not None:
        raise UsageError(
            "with -g, -o must be start or end, for a group without committed offsets "
            "(`ottla group seek` resets committed offsets)"
        )
    if parsed.partitions is not None:
        raise UsageError("with -g the group assigns partitions: leave out -p")
    clients = Clients(parsed)
    consumer = clients.consumer(
        group_id=parsed.group,
        auto_offset_reset=_RESET[first.kind],
        enable_auto_commit=True,
        **_options(parsed),
    )
    reading = Reading(clients, consumer, form, exit_at_end=parsed.exit, group=parsed.group)

    def assigned(_: Consumer, partitions: list[Any]) -> None:
        reading.open |= {(one.topic, one.partition) for one in partitions}

    def revoked(_: Consumer, partitions: list[Any]) -> None:
        reading.open -= {(one.topic, one.partition) for one in partitions}

    try:
        existing_topics(clients, consumer, parsed)
        consumer.subscribe(parsed.topics, on_assign=assigned, on_revoke=revoked)
    except BaseException:
        reading.close()
        raise
    return reading


def existing_topics(clients: Clients, consumer: Consumer, parsed: argparse.Namespace) -> list[str]:
    """Raises CommandFailed if a topic does not exist, or waits for it with --wait; also if the user
    may not describe it."""
    began = time.monotonic()
    has_responded = False
    noted: type[Exception] | None = None
    while True:
        try:
            existing = clients.metadata(consumer).topics
            has_responded = True
            return _matching(existing, parsed.topics)
        except NoSuchTopic as missing:
            if noted is None and missing.name is not None:
                clients.check_described(missing.name)
            if not parsed.wait:
                # None: a command without this option.
                hint = "" if parsed.wait is None else " (--wait waits for it)"
                raise CommandFailed(f"{missing}{hint}") from None
            failure: Exception = missing
            note = f"{missing} yet (waiting for it)"
        except CommandFailed as gone:
            if not has_responded:  # a broker that was up may restart
                raise
            failure = gone
            note = f"{gone} (still waiting)"
        if parsed.idle is not None and time.monotonic() - began > parsed.idle:
            raise CommandFailed(str(failure))
        if noted is not type(failure):
            noted = type(failure)
            clients.note(note)
        check_stdout()
        time.sleep(_LOOK_EVERY_S)


def _check_name(name: str) -> None:
    """Raises UsageError for an illegal name: such a topic is never created."""
    try:
        check_topic_name(name)
    except InvalidTopic as refused:
        raise UsageError(refused.message) from None


def _matching(existing: Iterable[str], names: list[str]) -> list[str]:
    """Raises NoSuchTopic: librdkafka would wait for it, or the broker create it."""
    found: list[str] = []
    for name in names:
        if name.startswith("^"):
            try:
                pattern = re.compile(name)
            except re.error as wrong:
                raise UsageError(f"invalid regular expression {name!r}: {wrong}") from None
            matching = sorted(topic for topic in existing if pattern.match(topic))
            if not matching:
                raise NoSuchTopic(f"no topic matches {name}")
            found += matching
        elif name in existing:
            found.append(name)
        else:
            _check_name(name)
            raise NoSuchTopic(no_topic(name, existing), name)
    return list(dict.fromkeys(found))
