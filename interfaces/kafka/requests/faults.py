"""Faults of tests: a broker with `testing` delays requests, fails them, or drops their connection.

`Faults.faulty` wraps each handler. A request that matches a fault, by API, topic, group and client
id, is delayed as if its pages had to be loaded (it runs again), then fails or is handled.

A Fetch within a fetch session names no partitions. Where a fault depends on them, its session is
not found: the client repeats the fetch with all its partitions, and that one matches.

After NOT_COORDINATOR, fetches of the client do not wait until a request of the group is handled
again: FindCoordinator may be behind one, and librdkafka (2.16) looks for the coordinator again and
again if the response comes after its retry of a commit, which is 100 ms later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from application.ports.scheduler import Scheduler
from domain.errors import FetchSessionNotFound, InvalidRequest, NotCoordinator
from interfaces.kafka.requests.apis import APIS, FETCH, Api
from interfaces.kafka.requests.call import Call, CloseConnection, Peer
from interfaces.kafka.requests.error_codes import CODES, NAMES
from interfaces.kafka.requests.failures import failed_response
from interfaces.kafka.requests.gate import Handle, elements, name_of
from interfaces.kafka.requests.log_subject import GROUP
from interfaces.kafka.wire.schema import Response

ANY_API = "*"
BEFORE, AFTER = "before", "after"
MAX_FAULTS = 1000
#: Of a fetch whose client looks for its coordinator; below librdkafka's retry.backoff.ms.
LOOKING_WAIT_MS = 10

_CODES = {name: code for code, name in NAMES.items()}
_NOT_COORDINATOR = NAMES[CODES[NotCoordinator]]
#: Errors of a fetch session, which are the whole response's; other errors are a partition's.
_OF_SESSIONS = ("FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH")
_FIND_COORDINATOR = "FindCoordinator"
_TOPICS = ("topics", "topic_data", "topic_names", "groups.topics", "subscribed_topic_names")
_GROUPS = ("group_id", "groups", "group_ids", "groups_names", "coordinator_keys", "key")


@dataclass(eq=False)
class Fault:
    fault_id: int
    #: ANY_API: all.
    api: str
    #: Kafka's name of an error code.
    error: str | None = None
    delay_ms: int = 0
    #: The connection is closed before the request is handled, or in place of the response.
    disconnect: str | None = None
    #: None: until it is removed.
    times: int | None = 1
    topic: str | None = None
    group: str | None = None
    client_id: str | None = None
    matched: int = 0
    #: Of a coordinator that has moved: connections from before the move whose client has yet to
    #: find it again, and whether a request of theirs was refused.
    stale: WeakKeyDictionary[Peer, bool] | None = field(default=None, repr=False)

    @property
    def is_spent(self) -> bool:
        return self.times is not None and self.matched >= self.times

    def matches(self, api: Api, request: Any, call: Call) -> bool:
        client_id = call.peer.client.client_id
        if self.is_spent or self.api not in (ANY_API, api.title):
            return False
        if self.client_id not in (None, client_id):
            return False
        if self.group is not None and self.group not in _named(request, _GROUPS, call):
            return False
        if self.stale is not None:
            if api.title == _FIND_COORDINATOR:
                self._found_by(call.peer)
            if call.peer not in self.stale:
                return False
            self.stale[call.peer] = True
        if api.key == FETCH and request.session_epoch > 0 and self._depends_on_partitions:
            raise FetchSessionNotFound("a fault needs the partitions of this fetch session")
        return self.topic is None or self.topic in _named(request, _TOPICS, call)

    def _found_by(self, finder: Peer) -> None:
        """Clients may share their id: of those, the ones that were refused look for it."""
        assert self.stale is not None
        for peer, is_refused in list(self.stale.items()):
            same_id = peer.client.client_id == finder.client.client_id
            if peer is finder or (is_refused and same_id):
                del self.stale[peer]

    @property
    def _depends_on_partitions(self) -> bool:
        is_error_of_partitions = self.error is not None and self.error not in _OF_SESSIONS
        return is_error_of_partitions or self.topic is not None


class Faults:
    """Adds, lists and removes faults, and applies them to requests."""

    #: What `api` and `error` of a fault may be.
    apis = (ANY_API, *(api.title for api in APIS))
    errors = tuple(_CODES)

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._ids = count(1)
        self._by_id: dict[int, Fault] = {}
        #: Connections that have sent a request.
        self._peers: WeakSet[Peer] = WeakSet()
        #: Client ids that got NOT_COORDINATOR for a group, and the group.
        self._looking: set[tuple[str | None, str | None]] = set()
        #: Of requests that run again: they have matched already, and were delayed.
        self._running_again: WeakKeyDictionary[Peer, Fault] = WeakKeyDictionary()

    def add(self, api: str, **fields: Any) -> Fault:
        if len(self._by_id) >= MAX_FAULTS:
            raise InvalidRequest(f"there are {MAX_FAULTS} faults: remove some")
        fault = Fault(next(self._ids), api, **fields)
        self._by_id[fault.fault_id] = fault
        return fault

    def move_coordinator(self, group: str) -> Fault:
        """Requests of the group are refused until their client has found the coordinator again."""
        for fault in self.all():
            if fault.stale is not None and fault.group == group:
                self.remove(fault.fault_id)
        stale = WeakKeyDictionary(dict.fromkeys(self._peers, False))
        return self.add(ANY_API, error=_NOT_COORDINATOR, times=None, group=group, stale=stale)

    def all(self) -> list[Fault]:
        return list(self._by_id.values())

    def remove(self, fault_id: int) -> bool:
        """Returns False if there is none."""
        return self._by_id.pop(fault_id, None) is not None

    def clear(self) -> None:
        self._by_id.clear()
        self._looking.clear()

    def faulty(self, api: Api, version: int, handle: Handle) -> Handle:
        """Wraps the handler of an API."""
        partitions_failed = None
        if api.key == FETCH:
            messages, values = api.messages(), api.handler().FAILED
            partitions_failed = failed_response(
                messages.FetchRequest, messages.FetchResponse, version, values, in_elements=True
            )

        def fail(error: str, request: Any, call: Call) -> Response:
            failed = call.route.failed
            if partitions_failed is not None and error not in _OF_SESSIONS:
                failed = partitions_failed
            call.note_code(_CODES[error])
            if error == _NOT_COORDINATOR:
                self._look(request, call)
                call.broker.messages.fetch.end_waiting()
            return failed(request, _CODES[error], None)

        def handle_unless_faulty(request: Any, call: Call) -> Response | None:
            self._peers.add(call.peer)
            if self._looking and api.key == FETCH:
                self._shorten(request, call)
            fault = self._running_again.pop(call.peer, None)
            if fault is None:
                fault = self._matching(api, request, call)
                if fault is None:
                    if self._looking and api.title != _FIND_COORDINATOR:
                        self._found(request, call)
                    return handle(request, call)
                if fault.delay_ms:
                    self._running_again[call.peer] = fault
                    raise NotInMemory(self._delay(fault.delay_ms))
            if fault.error is not None:
                return fail(fault.error, request, call)
            if fault.disconnect == BEFORE:
                raise CloseConnection("fault_injected", f"fault {fault.fault_id}")
            peer = call.peer
            if fault.disconnect == AFTER:
                call.peer = _ClosingPeer(peer, fault)
            try:
                return handle(request, call)
            except NotInMemory:
                self._running_again[peer] = fault
                raise

        return handle_unless_faulty

    def _matching(self, api: Api, request: Any, call: Call) -> Fault | None:
        for fault in self._by_id.values():
            if fault.matches(api, request, call):
                fault.matched += 1
                return fault
        return None

    def _look(self, request: Any, call: Call) -> None:
        if len(self._looking) >= MAX_FAULTS:
            self._looking.clear()
        client_id = call.peer.client.client_id
        self._looking.update((client_id, group) for group in _named(request, _GROUPS, call))

    def _found(self, request: Any, call: Call) -> None:
        client_id = call.peer.client.client_id
        groups = _named(request, _GROUPS, call)
        self._looking.difference_update([(client_id, group) for group in groups])

    def _shorten(self, fetch: Any, call: Call) -> None:
        if any(client_id == call.peer.client.client_id for client_id, _ in self._looking):
            fetch.max_wait_ms = min(fetch.max_wait_ms, LOOKING_WAIT_MS)

    def _delay(self, delay_ms: int) -> Pending[None]:
        over: Pending[None] = Pending()
        self._scheduler.after_ms(delay_ms, partial(over.resolve, None))
        return over


class _ClosingPeer:
    """The connection of a request whose response is not sent."""

    def __init__(self, peer: Peer, fault: Fault) -> None:
        self._peer = peer
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peer, name)

    def completed(self, call: Call) -> None:
        call.pieces = None
        self._peer.close("fault_injected", f"fault {self._fault.fault_id}")


def _named(request: Any, fields: tuple[str, ...], call: Call) -> Iterator[str | None]:
    """The names in these fields of a request."""
    if getattr(request, "key_type", GROUP) != GROUP:
        return
    for name in fields:
        outer, _, inner = name.partition(".")
        for each in elements(request, [outer]) if hasattr(request, outer) else ():
            for one in elements(getattr(each, inner, ()), []) if inner else (each,):
                yield one if isinstance(one, str) else name_of(one, call)
