"""The admin side: the broker as its routes see it, and the HTTP server."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from application.broker import Broker
from application.ports.event_log import EventLog
from application.ports.request_log import RequestLog
from application.security.http_authentication import HttpAuthentication
from interfaces.connections.tls import TlsIdentity
from interfaces.embed import __version__
from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.shared import Shared
from interfaces.main.container.core import Core
from interfaces.main.container.metrics import BrokerMetrics
from interfaces.main.settings.sources import Settings
from interfaces.rest.admin import Admin, Check, KafkaListener
from interfaces.rest.serving.server import AdminServer, HttpServer
from interfaces.rest.testing import Testing
from interfaces.terminal.addresses import host_port

NO_LEASE = "the lease is over: other brokers may take the place of this one"


def make_admin(
    settings: Settings,
    core: Core,
    broker: Broker,
    request_log: RequestLog,
    shared: Shared,
    listeners: Sequence[Listener],
    metrics: BrokerMetrics,
    testing: Testing | None,
    tls: TlsIdentity | None,
) -> Admin:
    def open_listeners() -> list[KafkaListener]:
        return [
            KafkaListener(each.name, *each.bound, each.advertised and host_port(*each.advertised))
            for each in listeners
            if each.is_open
        ]

    return Admin(
        broker=broker,
        events=core.events,
        request_log=request_log,
        clock=core.clock,
        version=__version__,
        started_at_ms=metrics.started_at_ms,
        requests=shared.request_accounting.recent,
        metrics=metrics,
        history=metrics.history,
        counted=metrics.counted,
        connections=lambda: list(shared.sessions),
        listeners=open_listeners,
        checks=checks_of(broker, listeners),
        origin=settings.origin,
        storage=settings.storage.shown,
        refusals=shared.closing_log,
        handshakes=shared.handshakes,
        authentication=_authentication(settings, broker),
        tls=tls,
        testing=testing,
    )


def checks_of(broker: Broker, listeners: Sequence[Listener]) -> dict[str, Check]:
    """Of `GET /readyz`."""

    def listening() -> str | None:
        return None if all(each.is_open for each in listeners) else "not every listener is open"

    def recovered() -> str | None:
        return None if broker.groups.offsets.loaded else "committed offsets are being read"

    def leased() -> str | None:
        return None if broker.placement.has_lease else NO_LEASE

    checks: dict[str, Check] = {
        "listeners": listening,
        "storage": broker.commits.storage_health.reason,
        "recovery": recovered,
    }
    return checks if broker.placement.is_alone else {**checks, "lease": leased}


def _authentication(settings: Settings, broker: Broker) -> HttpAuthentication | None:
    parts = broker.security.authentication
    listener = parts.of(settings.admin_security)
    if listener is None:
        return None
    return HttpAuthentication(listener, parts.users, parts.clock, _new_secret)


def _new_secret() -> bytes:
    return secrets.token_bytes(32)


def make_server(admin: Admin, events: EventLog, metrics: BrokerMetrics) -> AdminServer:
    def http(hosts: list[str]) -> HttpServer:
        # Half a second and thirty megabytes, at the first HTTP connection.
        from interfaces.rest.serving.http import UvicornServer

        metrics.prepare()
        return UvicornServer(admin, hosts)

    return AdminServer(http, events)
