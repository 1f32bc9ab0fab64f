"""`ottla consume`: by assignment, from anywhere to anywhere; or as a member of a group."""

from __future__ import annotations

import argparse
import re
import select
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.errors import InvalidTopic
from domain.topics.topic import check_topic_name
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.cli.format import json_line, printer
from interfaces.cli.positions import (
    END,
    OFFSET,
    PLUS,
    START,
    Place,
    bounds_of,
    chosen,
    part,
    resolved,
)
from interfaces.cli.progress import Progress, stays_silent
from interfaces.terminal.client_errors import in_words
from interfaces.terminal.reachable import why_not

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: Of confluent-kafka, whose types say that all of it may be missing.
Message: TypeAlias = "Any"

_AT_ONCE = 500
_LOOK_EVERY_S = 0.25
_RESET = {START: "earliest", END: "latest"}


class NoSuchTopic(Exception):
    pass


def consume(parsed: argparse.Namespace) -> int:
    if parsed.output == "json" or parsed.format == "json":
        if parsed.format not in (None, "json"):
            raise NotUnderstood("-f is for text: --output json prints all there is")
        form: Callable[[Message], bytes] = json_line
    else:
        form = printer(parsed.format if parsed.format is not None else "%v\\n")
    reading = _as_member(parsed, form) if parsed.group else _assigned(parsed, form)
    try:
        reading.run(parsed.number, parsed.idle)
    finally:
        reading.close()
    return 0


class Reading:
    """Prints what comes until it is enough: a number, the end, a stop, or an interrupt."""

    def __init__(
        self,
        clients: Clients,
        consumer: Consumer,
        form: Callable[[Message], bytes],
        *,
        exit_at_end: bool,
        in_group: bool,
    ) -> None:
        self._clients = clients
        self._consumer = consumer
        self._form = form
        self._exit = exit_at_end
        self._in_group = in_group
        #: Where to stop, of each partition that has such a place.
        self.stops: dict[Place, int] = {}
        #: Partitions from which something is still wanted.
        self.open: set[Place] = set()
        #: So many are to come at the most, where that is known.
        self.offsets = sys.maxsize
        self._down_since: float | None = None
        self._next_probe = 0.0

    def run(self, number: int | None, idle_s: float | None) -> None:
        left = sys.maxsize if number is None else number
        total = min(left, self.offsets)
        last = time.monotonic()
        with Progress("consume", total, wanted=total < sys.maxsize and stays_silent()) as progress:
            while left and not self._is_done():
                messages = self._next(left)
                if messages:
                    last = time.monotonic()
                    self._down_since = None
                    printed = self._print(messages, left)
                    left -= printed
                    progress.step(printed)
                elif idle_s is not None and time.monotonic() - last > idle_s:
                    return
                else:
                    if self._waits_for_group():
                        self._clients.heed_silence()
                    _check_that_somebody_reads()
                    self._check_connection()

    def _is_done(self) -> bool:
        return (self._exit or bool(self.stops)) and not self.open and not self._waits_for_group()

    def _waits_for_group(self) -> bool:
        return self._in_group and not self._consumer.assignment()

    def _next(self, most: int) -> list[Message]:
        """The first when it comes, and what has come with it."""
        first = self._consumer.poll(_LOOK_EVERY_S)
        if first is None:
            return []
        rest = min(most, _AT_ONCE) - 1
        return [first, *(self._consumer.consume(rest, 0) if rest else ())]

    def _print(self, messages: list[Message], most: int) -> int:
        out = sys.stdout.buffer
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
            out.write(self._form(message))
            printed += 1
            if self._in_group:
                self._consumer.store_offsets(message)
            if stop is not None and message.offset() + 1 >= stop:
                self.open.discard(place)
        out.flush()
        return printed

    def _failed(self, message: Message) -> None:
        from confluent_kafka import KafkaError

        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            place = (message.topic(), message.partition())
            if self._exit:
                self.open.discard(place)
        elif error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._down_since = self._down_since or time.monotonic()
        elif error.fatal() or not error.retriable():
            raise CommandFailed(f"{message.topic() or 'the topic'}: {in_words(error)}")

    def _check_connection(self) -> None:
        """The client tries again for ever; here it may take --timeout."""
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
                f"{self._clients.servers} is gone for {self._clients.timeout_s:g} s: "
                f"{self._clients.complaint}"
            )

    def close(self) -> None:
        self._consumer.close()


def _check_that_somebody_reads() -> None:
    """`| head` that has gone is noticed by the next write, which may never come."""
    reader = select.poll()
    reader.register(sys.stdout.fileno(), 0)
    if any(event & select.POLLERR for _, event in reader.poll(0)):
        raise BrokenPipeError


def _options(parsed: argparse.Namespace) -> dict[str, Any]:
    return {"isolation_level": parsed.isolation, "fetch_wait_max_ms": 100}


def _assigned(parsed: argparse.Namespace, form: Callable[[Message], bytes]) -> Reading:
    from confluent_kafka import TopicPartition

    first, stop = part(parsed.offset or "start")
    clients = Clients(parsed)
    consumer = clients.consumer(**_options(parsed))
    reading = Reading(clients, consumer, form, exit_at_end=parsed.exit, in_group=False)
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
                # An offset that is yet to come is waited for, unless the end is asked for as well.
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
            # What is empty now has its end here already.
            reading.open = {p for p in reading.open if start[p] < at_first[p].end}
            reading.offsets = sum(
                min(at_first[p].end, reading.stops.get(p, sys.maxsize)) - start[p]
                for p in reading.open
            )
        elif reading.stops:
            reading.offsets = sum(reading.stops[p] - start[p] for p in reading.open)
        if reading.open or not (parsed.exit or reading.stops):
            wanted = reading.open or places
            consumer.assign([TopicPartition(*place, start[place]) for place in wanted])
    except BaseException:
        reading.close()
        raise
    return reading


def _as_member(parsed: argparse.Namespace, form: Callable[[Message], bytes]) -> Reading:
    first, stop = part(parsed.offset or "start")
    if first.kind not in _RESET or stop is not None:
        raise NotUnderstood(
            "with -g, -o says where a group begins that has no offsets: start or end "
            "(`ottla group seek` moves a group)"
        )
    if parsed.partitions is not None:
        raise NotUnderstood("with -g the group says who gets which partitions: -p is not for it")
    clients = Clients(parsed)
    consumer = clients.consumer(
        group_id=parsed.group,
        auto_offset_reset=_RESET[first.kind],
        enable_auto_commit=True,
        **_options(parsed),
    )
    reading = Reading(clients, consumer, form, exit_at_end=parsed.exit, in_group=True)

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
    """Their names. Raises CommandFailed if one does not exist, or waits for it with --wait."""
    began = time.monotonic()
    has_answered = False
    noted: type[Exception] | None = None
    while True:
        try:
            there = clients.metadata(consumer).topics
            has_answered = True
            return _matching(there, parsed.topics)
        except NoSuchTopic as missing:
            if not parsed.wait:
                raise CommandFailed(f"{missing} (--wait waits for it)") from None
            failure: Exception = missing
            note = f"{missing} yet (waiting for it)"
        except CommandFailed as gone:
            if not has_answered:  # a broker that has answered once may come back
                raise
            failure = gone
            note = f"{gone} (still waiting)"
        if parsed.idle is not None and time.monotonic() - began > parsed.idle:
            raise CommandFailed(str(failure))
        if noted is not type(failure):
            noted = type(failure)
            clients.note(note)
        _check_that_somebody_reads()
        time.sleep(_LOOK_EVERY_S)


def _check_name(name: str) -> None:
    """A topic of an illegal name is never created."""
    try:
        check_topic_name(name)
    except InvalidTopic as refused:
        raise NotUnderstood(refused.message) from None


def _matching(there: Iterable[str], wanted: list[str]) -> list[str]:
    """Raises NoSuchTopic: the client library would wait for it, or the broker create it."""
    found: list[str] = []
    for name in wanted:
        if name.startswith("^"):
            try:
                pattern = re.compile(name)
            except re.error as wrong:
                raise NotUnderstood(f"{name!r} is no regular expression: {wrong}") from None
            matching = sorted(topic for topic in there if pattern.match(topic))
            if not matching:
                raise NoSuchTopic(f"no topic matches {name}")
            found += matching
        elif name in there:
            found.append(name)
        else:
            _check_name(name)
            raise NoSuchTopic(f"there is no topic {name}")
    return list(dict.fromkeys(found))
