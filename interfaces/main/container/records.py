"""What looks into records, wired to its ports."""

from __future__ import annotations

from typing import Any

from application.records.browse import BrowseService
from application.records.clone import CloneService
from application.records.records import Records
from application.records.send import SendService
from application.records.tail import TailService
from interfaces.main.container.declarative import containers, providers


class RecordsContainer(containers.DeclarativeContainer):
    storage = providers.DependenciesContainer()
    catalog: providers.Dependency[Any] = providers.Dependency()
    commits: providers.Dependency[Any] = providers.Dependency()
    watching: providers.Dependency[Any] = providers.Dependency()
    create_topics: providers.Dependency[Any] = providers.Dependency()
    produce: providers.Dependency[Any] = providers.Dependency()
    clock: providers.Dependency[Any] = providers.Dependency()
    checksum: providers.Dependency[Any] = providers.Dependency()
    compression: providers.Dependency[Any] = providers.Dependency()
    background: providers.Dependency[Any] = providers.Dependency()
    scan_workers: providers.Dependency[Any] = providers.Dependency()

    browse = providers.Singleton(
        BrowseService, catalog, storage.log, compression, clock, background, scan_workers
    )
    records = providers.Singleton(
        Records,
        browse=browse,
        send=providers.Singleton(SendService, catalog, produce, commits, clock, checksum),
        tail=providers.Singleton(TailService, catalog, browse, watching, background),
        clone=providers.Singleton(
            CloneService, catalog, create_topics, storage.log, commits, compression, checksum
        ),
    )
