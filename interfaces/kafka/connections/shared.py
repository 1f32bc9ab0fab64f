"""Shared: what all connections of the Kafka protocol use."""

from __future__ import annotations

from collections.abc import Callable

from application.broker import Broker
from application.ports.event_log import EventLog
from application.ports.request_log import RequestLog
from application.ports.scheduler import Scheduler
from interfaces.connections.limits import ConnectionLimits
from interfaces.kafka.connections.authentication_gate import AuthenticationGate
from interfaces.kafka.requests.accounting import RequestAccounting
from interfaces.kafka.requests.dispatch import Dispatch, Routes
from interfaces.kafka.requests.gate import Wrap


class Shared(ConnectionLimits):
    def __init__(
        self,
        broker: Broker,
        scheduler: Scheduler,
        events: EventLog,
        request_log: RequestLog,
        faulty: Wrap | None = None,
    ) -> None:
        """`faulty` injects faults of tests."""
        super().__init__(broker, scheduler, events)
        config = broker.config
        #: URLs of the admin listeners, for a client that connected to this host.
        self.admin_urls: Callable[[str], list[str]] = lambda _host: []
        self.request_accounting = RequestAccounting(
            request_log, config.requests_recent_max, broker.catalog.name_of, broker.quotas
        )
        guarded = not broker.authorizer.allows_everything
        self.routes = Routes(config.request_elements_max, guarded, faulty)
        self.dispatch = Dispatch(self.routes, events, self.request_accounting)
        self.authentication_gate = AuthenticationGate(self.dispatch, self.routes)
        self.max_frame_bytes = config.socket_request_max_bytes
        broker.messages.fetch.limit_responses(self.response_budget.room)
