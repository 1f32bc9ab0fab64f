"""The Kafka listeners over the broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interfaces.kafka.connections.listener import Listener
from interfaces.kafka.connections.shared import Advertised, Shared
from interfaces.main.container.declarative import containers, providers
from interfaces.main.settings.listeners import ListenerSettings


def open_listeners(shared: Shared, wanted: Sequence[ListenerSettings]) -> list[Listener]:
    return [
        Listener(
            shared,
            one.name,
            one.host,
            one.port,
            Advertised(one.name, one.advertised_host, one.advertised_port),
        )
        for one in wanted
    ]


class InterfacesContainer(containers.DeclarativeContainer):
    broker: providers.Dependency[Any] = providers.Dependency()
    scheduler: providers.Dependency[Any] = providers.Dependency()
    events: providers.Dependency[Any] = providers.Dependency()
    request_log: providers.Dependency[Any] = providers.Dependency()
    listener_settings: providers.Dependency[Any] = providers.Dependency()

    shared = providers.Singleton(Shared, broker, scheduler, events, request_log)
    listeners = providers.Singleton(open_listeners, shared, listener_settings)
