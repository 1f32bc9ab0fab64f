"""Clients of confluent-kafka: made from the options of a command, without logs, with a timeout.

librdkafka logs to stderr and retries until a timeout. Here its log is off and its newest error is
part of the message. A port that refuses connections is reported before a client is made; after the
first second without a response, the checks of `ottla doctor` run once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.suggestions import did_you_mean
from interfaces.terminal.addresses import Address, addresses
from interfaces.terminal.client_errors import in_words
from interfaces.terminal.endings import complain
from interfaces.terminal.profiles import CLIENT_ID, connection
from interfaces.terminal.reachable import PROBE_S, BrokerUnreachable, first_reachable, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
    from confluent_kafka.admin import AdminClient, ClusterMetadata

    from interfaces.cli.probe.talking import Protocol
    from interfaces.cli.probe.wire_client import WireClient

T = TypeVar("T")

#: Of the names of internal topics.
INTERNAL = "__"
#: A broker responds in milliseconds; after this long without a response the reason is looked for.
SILENCE_S = 1.0
_FLUSH_STEP_S = 0.1
#: How long the checks of `ottla doctor` may take within another command.
_DIAGNOSIS_S = 3.0
#: After so long without it librdkafka takes a topic for missing; its default, 30 s, is longer than
#: --timeout. Metadata of a Kafka broker has a topic some time after its first use creates it.
_TOPIC_CREATED_MS = 3000


class Clients:
    """The clients of one command."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        try:
            self.servers, self.options = connection(parsed)
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
        self.timeout_s: float = parsed.timeout
        #: The newest error that a client reported.
        self.newest_error = ""
        #: The newest of a consumer with `statistics.interval.ms`: JSON.
        self.statistics = "{}"
        #: Set when a client reports that all brokers are down; its reader resets it.
        self.is_down = False
        #: The checks of `ottla doctor` run once in a command.
        self.is_diagnosed = False
        #: Prints a reason that may pass.
        self.note: Callable[[str], None] = complain
        self._began = time.monotonic()
        self._diagnosis = ""
        self._authentication_failed = False
        self._is_checked = False
        self._newest: Any = None

    def admin(self) -> AdminClient:
        from confluent_kafka.admin import AdminClient

        return self._made(lambda config: AdminClient(config))

    def producer(self, **options: Any) -> Producer:
        from confluent_kafka import Producer

        defaults = {"topic.metadata.propagation.max.ms": _TOPIC_CREATED_MS} | _dotted(options)
        return self._made(lambda config: Producer(config), defaults)

    def consumer(self, **options: Any) -> Consumer:
        from confluent_kafka import Consumer

        defaults = {
            # librdkafka requires one, also for assigned partitions.
            "group.id": CLIENT_ID,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "stats_cb": self._counted,
        }
        return self._made(lambda config: Consumer(config), defaults | _dotted(options))

    def _made(
        self, make: Callable[[dict[str, Any]], T], defaults: dict[str, Any] | None = None
    ) -> T:
        from confluent_kafka import KafkaException

        self.check_reachable()
        config: dict[str, Any] = {
            "client.id": CLIENT_ID,
            "log_level": 0,
            # Fatal errors are logged at each level: to a queue, which is not read.
            "log.queue": "log_level" not in self.options,
            "socket.connection.setup.timeout.ms": max(1000, int(self.timeout_s * 1000)),
            "error_cb": self._failed,
        }
        config |= (defaults or {}) | self.options
        config["bootstrap.servers"] = self.servers
        try:
            self._newest = made = make(config)
        except (KafkaException, TypeError, ValueError) as refusal:
            raise UsageError(f"-X: {text_of(refusal)}") from None
        return made

    def _failed(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self.is_down = True
        else:
            self.newest_error = error.str()
            self._authentication_failed |= error.code() == KafkaError._AUTHENTICATION

    def _counted(self, statistics: str) -> None:
        self.statistics = statistics

    def addresses(self) -> list[Address]:
        try:
            return addresses(self.servers)
        except ValueError as wrong:
            raise UsageError(f"--bootstrap-server: {wrong}") from None

    def check_reachable(self) -> None:
        """Raises CommandFailed if all brokers refuse connections: librdkafka would retry."""
        if self._is_checked:
            return
        self._is_checked = True
        try:
            first_reachable(self.addresses(), min(PROBE_S, self.timeout_s))
        except BrokerUnreachable as why:
            if not why.may_pass:
                raise CommandFailed(f"{why}{self.advice()}") from None

    def advice(self) -> str:
        return f" (try `ottla doctor -b {self.servers}`)"

    def metadata(self, client: Any) -> ClusterMetadata:
        """Of all topics: metadata that is requested for one by its name may create it."""
        with self.requesting("the metadata", client):
            found: ClusterMetadata = self._wait(
                lambda left_s: client.list_topics(timeout=left_s), self.timeout_s, client
            )
            return found

    def broker_id(self, client: Any) -> int:
        """Of a broker that responds; the connection to a bootstrap server has no id yet."""
        metadata = self.metadata(client)
        if metadata.orig_broker_id >= 0:
            return metadata.orig_broker_id
        return min(metadata.brokers, default=-1)

    def partitions(self, client: Any, topic: str) -> list[int]:
        existing = self.metadata(client).topics
        known = existing.get(topic)
        if known is None or known.error is not None:
            self.check_described(topic)
            raise CommandFailed(no_topic(topic, existing))
        return sorted(known.partitions)

    def check_described(self, topic: str) -> None:
        """Raises CommandFailed if the user may not describe it, as the metadata of all topics then
        lacks it."""
        from confluent_kafka import TopicCollection

        admin = self.admin()
        described = admin.describe_topics(TopicCollection([topic]), request_timeout=self.timeout_s)
        try:
            self.result(f"topic {topic}", described[topic], admin)
        except CommandFailed as failure:
            if "TOPIC_AUTHORIZATION_FAILED" in str(failure):
                raise

    def result(self, what: str, future: Future[T], client: Any = None) -> T:
        with self.requesting(what, client):
            return self._wait(future.result, self.timeout_s + 1, client)

    def _wait(self, wait: Callable[[float], T], timeout_s: float, client: Any) -> T:
        from confluent_kafka import KafkaException

        began = time.monotonic()
        try:
            return wait(min(SILENCE_S, timeout_s))
        except (KafkaException, TimeoutError) as failure:
            if isinstance(failure, KafkaException) and not _is_silence(failure.args[0]):
                raise
            client = client if client is not None else self._newest
            if hasattr(client, "poll"):
                client.poll(0)  # calls _failed
            self.diagnose(began)
            # The response may have come during the diagnosis.
            left_s = min(timeout_s - SILENCE_S, SILENCE_S)
            left_s = max(left_s, began + timeout_s - time.monotonic())
            if left_s <= 0:
                raise
            return wait(left_s)

    def diagnose(self, began: float) -> None:
        """Finds the reason of the silence. Raises CommandFailed where a retry cannot help.

        `began`: when the wait for --timeout began.
        """
        if self.is_diagnosed:
            return
        self.is_diagnosed = True
        if self._authentication_failed:
            raise CommandFailed(f"{self.servers}: {self.newest_error}{self.advice()}")
        left_s = began + self.timeout_s - time.monotonic()
        # A short --timeout is over by now: its command still reports a reason.
        self._diagnosis, may_pass = self.why_silent(min(_DIAGNOSIS_S, max(left_s, SILENCE_S)))
        if not self._diagnosis:
            return
        if not may_pass:
            raise CommandFailed(self._diagnosis)
        self.note(f"{self._diagnosis} (still waiting)")

    def why_silent(self, limit_s: float) -> tuple[str, bool]:
        from interfaces.cli.probe.checks import why_silent

        return why_silent(self.addresses(), self.protocol(), self.timeout_s, limit_s)

    def protocol(self) -> Protocol:
        """TLS and SASL for a connection without librdkafka."""
        from interfaces.cli.probe.talking import Protocol

        try:
            return Protocol(self.options)
        except (OSError, ValueError) as failure:
            raise UsageError(f"-X: cannot read a certificate: {failure}") from None

    @contextmanager
    def wire(self, what: str, address: Address | None = None) -> Iterator[WireClient]:
        """A connection for what confluent-kafka does not have.

        Without `address` it is one to the first bootstrap server that responds.
        """
        from interfaces.cli.probe.sasl import MECHANISMS, authenticate
        from interfaces.cli.probe.wire_client import NoResponse, first_responding

        protocol = self.protocol()
        if protocol.sasl and protocol.mechanism not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise CommandFailed(
                f"{what}: not with the SASL mechanism {protocol.mechanism}, only with {known}"
            )
        try:
            where = self.addresses() if address is None else [address]
            with first_responding(where, self.timeout_s, protocol.context) as client:
                if protocol.sasl:
                    authenticate(client, protocol)
                yield client
        except BrokerUnreachable as why:
            raise CommandFailed(f"{what}: {why}{self.advice()}") from None
        except NoResponse as failure:
            raise CommandFailed(f"{what}: {failure}") from None
        except OSError as failure:
            raise CommandFailed(f"{what}: {reason_of(failure)}") from None

    def flush(self, producer: Producer, *, is_silent: bool) -> None:
        """Waits until every record is acknowledged or has failed (`message.timeout.ms`).

        `is_silent`: no record was acknowledged yet.
        """
        began = time.monotonic()
        while len(producer):
            # In `flush` of confluent-kafka 2.16 a fatal error is a SystemError without its text.
            producer.poll(_FLUSH_STEP_S)
            if is_silent and time.monotonic() - began > SILENCE_S:
                self.diagnose(began)

    def diagnose_silence(self) -> None:
        """For a loop that polls its client and has no response yet."""
        if time.monotonic() - self._began > SILENCE_S:
            self.diagnose(time.monotonic() - SILENCE_S)

    @contextmanager
    def requesting(self, what: str, client: Any = None) -> Iterator[None]:
        """Turns an error or a timeout of a request into CommandFailed."""
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as failure:
            raise CommandFailed(self._in_words(what, failure, client)) from None
        except TimeoutError:
            raise CommandFailed(self._no_response(what)) from None

    def _in_words(self, what: str, failure: KafkaException, client: Any) -> str:
        if _is_silence(failure.args[0]):
            if client is not None and hasattr(client, "poll"):
                client.poll(0)  # calls _failed
            return self._no_response(what)
        return f"{what}: {text_of(failure)}"

    def _no_response(self, what: str) -> str:
        why = f": {self.newest_error}" if self.newest_error and not self._diagnosis else ""
        return (
            f"{what}: no response from {self.servers} within {self.timeout_s:g} s{why}"
            f"{self.advice()}"
        )


def _is_silence(error: Any) -> bool:
    from confluent_kafka import KafkaError

    silent = (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN)
    return isinstance(error, KafkaError) and error.code() in silent


def no_topic(name: str, existing: Iterable[str]) -> str:
    return f"topic {name} does not exist{did_you_mean(name, existing)}"


def text_of(failure: BaseException) -> str:
    """The text of librdkafka or the broker."""
    from confluent_kafka import KafkaError

    error = failure.args[0] if failure.args else failure
    if isinstance(error, KafkaError):
        return in_words(error)
    return str(error)


def check_code(what: str, code: int, message: str | None = None) -> None:
    """Of a response that confluent-kafka does not read. Raises CommandFailed."""
    from confluent_kafka import KafkaError

    if code:
        raise CommandFailed(f"{what}: {message or in_words(KafkaError(code))}")


def each_result(
    clients: Clients, futures: dict[Any, Future[T]], what: Callable[[Any], str]
) -> Iterable[tuple[Any, T | CommandFailed]]:
    """The result of every future, failed ones too."""
    for key, future in futures.items():
        try:
            yield key, clients.result(what(key), future)
        except CommandFailed as failure:
            yield key, failure


def print_each(
    clients: Clients,
    futures: dict[Any, Future[T]],
    what: Callable[[Any], str],
    line: Callable[[Any, T], str],
) -> int:
    """Prints the line of every result, and failed ones on stderr; returns the exit code."""
    failed = 0
    for key, outcome in each_result(clients, futures, what):
        if isinstance(outcome, CommandFailed):
            complain(str(outcome))
            failed = 1
        else:
            print(line(key, outcome))
    return failed


def _dotted(options: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in options.items()}
