"""Adapters that the settings choose. Tests override the providers."""

from __future__ import annotations

from typing import Any

from infrastructure.opening import open_offsets, open_storage
from infrastructure.security.authorizer import OpenAuthorizer
from interfaces.main.container.declarative import containers, providers


class Adapters(containers.DeclarativeContainer):
    storage_url = providers.Dependency(instance_of=str)
    #: None: committed offsets are stored with the records.
    offsets_url: providers.Dependency[Any] = providers.Dependency()
    flush = providers.Dependency(instance_of=str)
    to_loop: providers.Dependency[Any] = providers.Dependency()

    #: None, or the folder of the rows of a store that stays as it is.
    rows: providers.Dependency[Any] = providers.Dependency()

    #: How it joins other brokers over the same store.
    joining: providers.Dependency[Any] = providers.Dependency()

    storage = providers.Singleton(
        open_storage, storage_url, flush, to_loop=to_loop, rows=rows, joining=joining
    )
    offsets = providers.Factory(open_offsets, offsets_url, storage, flush=flush, to_loop=to_loop)
    authorizer = providers.Singleton(OpenAuthorizer)
