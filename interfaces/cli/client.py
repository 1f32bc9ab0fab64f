"""Clients of confluent-kafka: made from the options of a command, silent, and never for ever.

librdkafka writes what it thinks to stderr and tries again until a timeout. Here it is silent, what
it complained of last is kept for the message, and an address that nobody listens at is found out
before it is asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from interfaces.cli.failures import CommandFailed, NotUnderstood
from interfaces.terminal.addresses import Address, addresses
from interfaces.terminal.client_errors import in_words
from interfaces.terminal.reachable import PROBE_S, NobodyListens, first_reachable
from interfaces.terminal.words import bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
    from confluent_kafka.admin import AdminClient, ClusterMetadata

T = TypeVar("T")


class Clients:
    """What a command needs to talk to a broker."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        self.options: dict[str, str] = dict(parsed.client_options)
        self.timeout_s: float = parsed.timeout
        self.servers = bootstrap(parsed)
        self.complaint = ""
        #: Set when a client says that no broker can be reached; for its owner to take back.
        self.is_down = False
        self._looked = False

    def admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        return self._made(lambda facts: AdminClient(facts))

    def producer(self, **options: Any) -> Producer:
        from confluent_kafka import Producer

        return self._made(lambda facts: Producer(facts), _dotted(options))

    def consumer(self, **options: Any) -> Consumer:
        from confluent_kafka import Consumer

        plain = {
            # Without a group to be a member of, one is named all the same: librdkafka wants it.
            "group.id": "ottla-cli",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
        }
        return self._made(lambda facts: Consumer(facts), plain | _dotted(options))

    def _made(self, make: Callable[[dict[str, Any]], T], plain: dict[str, Any] | None = None) -> T:
        from confluent_kafka import KafkaException

        self.look()
        facts: dict[str, Any] = {
            "client.id": "ottla-cli",
            "log_level": 0,
            "socket.connection.setup.timeout.ms": max(1000, int(self.timeout_s * 1000)),
            "error_cb": self._complained,
        }
        facts |= (plain or {}) | self.options
        facts["bootstrap.servers"] = self.servers
        try:
            return make(facts)
        except (KafkaException, TypeError, ValueError) as refusal:
            raise NotUnderstood(f"-X: {text_of(refusal)}") from None

    def _complained(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self.is_down = True
        else:
            self.complaint = error.str()

    def addresses(self) -> list[Address]:
        try:
            return addresses(self.servers)
        except ValueError as wrong:
            raise NotUnderstood(f"--bootstrap-server: {wrong}") from None

    def look(self) -> None:
        """Raises where it is plain at once that no broker is there: librdkafka would try on."""
        if not self._looked:
            self.first_reachable()
            self._looked = True

    def first_reachable(self) -> Address:
        try:
            return first_reachable(self.addresses(), min(PROBE_S, self.timeout_s))
        except NobodyListens as why:
            raise CommandFailed(f"{why}{self.advice()}") from None

    def advice(self) -> str:
        return f" (`ottla doctor -b {self.servers}` says more)"

    def metadata(self, client: Any, topic: str | None = None) -> ClusterMetadata:
        """A topic that is asked for by its name may be created by that, so none is."""
        with self.asking("the metadata", client):
            return client.list_topics(timeout=self.timeout_s)  # type: ignore[no-any-return]

    def partitions(self, client: Any, topic: str) -> list[int]:
        known = self.metadata(client).topics.get(topic)
        if known is None or known.error is not None:
            raise CommandFailed(f"there is no topic {topic}")
        return sorted(known.partitions)

    def result(self, what: str, future: Future[T], client: Any = None) -> T:
        with self.asking(what, client):
            return future.result(self.timeout_s + 1)

    @contextmanager
    def asking(self, what: str, client: Any = None) -> Iterator[None]:
        """What a broker refuses, and that it does not answer, is said in one line."""
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as failure:
            raise CommandFailed(self._in_words(what, failure, client)) from None
        except TimeoutError:
            raise CommandFailed(self._no_answer(what)) from None

    def _in_words(self, what: str, failure: KafkaException, client: Any) -> str:
        from confluent_kafka import KafkaError

        error = failure.args[0]
        silent = (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN)
        if isinstance(error, KafkaError) and error.code() in silent:
            if client is not None and hasattr(client, "poll"):
                client.poll(0)  # hands over what it has complained of
            return self._no_answer(what)
        return f"{what}: {text_of(failure)}"

    def _no_answer(self, what: str) -> str:
        why = f": {self.complaint}" if self.complaint else ""
        return (
            f"{what}: no answer from {self.servers} within {self.timeout_s:g} s{why}{self.advice()}"
        )


def text_of(failure: BaseException) -> str:
    """What librdkafka or the broker says, without the shell of a Python exception."""
    from confluent_kafka import KafkaError

    error = failure.args[0] if failure.args else failure
    if isinstance(error, KafkaError):
        return in_words(error)
    return str(error)


def each_result(
    clients: Clients, futures: dict[Any, Future[T]], what: Callable[[Any], str]
) -> Iterable[tuple[Any, T | CommandFailed]]:
    """Of every one, what came of it: one that fails does not hide the others."""
    for key, future in futures.items():
        try:
            yield key, clients.result(what(key), future)
        except CommandFailed as failure:
            yield key, failure


def _dotted(options: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in options.items()}
