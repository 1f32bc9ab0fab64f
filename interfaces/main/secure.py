"""`ottla serve --secure`: certificates, the user admin, and the settings of a secured data folder.

The settings are written last, so that an interrupted start begins again, with a new password.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from application.ports.commit import at_once
from domain.errors import StorageFailed
from infrastructure.opening import open_storage
from infrastructure.security.authority import (
    AUTHORITY,
    BROKER,
    CLIENT,
    FOLDER,
    issue,
    make_authority,
    names_of_this_host,
    replace_private,
)
from infrastructure.security.password_hashing import credentials_of
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.repositories.topic_repository import StoredTopicRepository
from infrastructure.storage.repositories.user_repository import StoredUserRepository
from interfaces.main.settings.origin import SettingsError
from interfaces.main.settings.secured import ADMIN, secured_settings, write_secured
from interfaces.main.settings.sources import Settings
from interfaces.terminal.addresses import host_port

_PASSWORD_BYTES = 18
_MECHANISM = "SCRAM-SHA-512"


def secure(settings: Settings) -> str | None:
    """The password of admin; None: the folder was secured before. Raises SettingsError."""
    folder = settings.storage.folder
    if folder is None:
        raise SettingsError(f"--secure needs a data folder, not {settings.storage.shown}")
    if secured_settings(folder):
        return None
    try:
        return _secure(settings, folder)
    except (OSError, ValueError, StorageFailed, StorageUnusable) as failure:
        raise SettingsError(f"--secure: {folder}: {failure}") from failure


def _secure(settings: Settings, folder: Path) -> str:
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    tls, now = folder / FOLDER, datetime.now(UTC)
    # Left by a start that was interrupted: the user is of that start.
    began = (tls / CLIENT).exists()
    with _opened(settings) as storage:
        _check_empty(storage, folder, began)
    with suppress(FileExistsError):
        make_authority(tls, now)
    if not (tls / BROKER).exists():
        issue(tls, _names(settings), now)
    replace_private(tls / CLIENT, _java(folder, password).encode())
    with _opened(settings) as storage:
        StoredUserRepository(storage.state).save(ADMIN, credentials_of(password))
        at_once(storage.commit.commit)
    write_secured(folder)
    return password


@contextmanager
def _opened(settings: Settings) -> Iterator[Storage]:
    storage = open_storage(settings.storage.url, to_loop=None)
    with closing(storage.commit):
        yield storage


def _check_empty(storage: Storage, folder: Path, began: bool) -> None:
    users = StoredUserRepository(storage.state).load().keys()
    has_topics = bool(StoredTopicRepository(storage.log, storage.state).load())
    if has_topics or (users and not began):
        raise SettingsError(
            f"--secure is for an empty data folder, and {folder} has "
            f"{'topics' if has_topics else 'users'}: add users with `ottla user add`, then turn on "
            "SASL_SSL and ACLs (docs/security.md)"
        )


def _names(settings: Settings) -> list[str]:
    """Hosts that clients connect to."""
    hosts = [one.host for one in settings.listeners if not one.everywhere]
    advertised = [settings.broker.advertised(one.name, one.port) for one in settings.listeners]
    hosts += [one[0] for one in advertised if one is not None]
    return list(dict.fromkeys([*names_of_this_host(), *hosts]))


def _java(folder: Path, password: str) -> str:
    return f"""\
security.protocol=SASL_SSL
ssl.truststore.type=PEM
ssl.truststore.location={_authority(folder)}
sasl.mechanism={_MECHANISM}
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
username="{ADMIN}" password="{password}";
"""


def _authority(folder: Path) -> Path:
    return folder.absolute() / FOLDER / AUTHORITY


def first_steps(settings: Settings, password: str) -> str:
    """What clients need, to be pasted."""
    folder = settings.storage.folder
    assert folder is not None
    authority, servers = _authority(folder), _bootstrap(settings)
    client = folder.absolute() / FOLDER / CLIENT
    return f"""\
This data folder is secured: SASL_SSL, ACLs, and the super user {ADMIN}.
The password of {ADMIN}, not shown again: {password}

# Java ({client}, for --command-config)
bootstrap.servers={servers}
{_java(folder, password)}
# librdkafka, kcat
bootstrap.servers={servers}
security.protocol=SASL_SSL
ssl.ca.location={authority}
sasl.mechanism={_MECHANISM}
sasl.username={ADMIN}
sasl.password={password}

// KafkaJS
new Kafka({{
  brokers: ['{servers}'],
  ssl: {{ ca: [require('fs').readFileSync('{authority}')] }},
  sasl: {{ mechanism: '{_MECHANISM.lower()}', username: '{ADMIN}', password: '{password}' }},
}})

# ottla
ottla topic list -b {servers} --command-config {shlex.quote(str(client))}
"""


def _bootstrap(settings: Settings) -> str:
    """Of the first listener with TLS and SASL."""
    secured = [
        one
        for one in settings.listeners
        if settings.security[one.name].protocol.needs_tls
        and settings.security[one.name].protocol.needs_sasl
    ]
    listener = (secured or list(settings.listeners))[0]
    advertised = settings.broker.advertised(listener.name, listener.port)
    host = "localhost" if listener.everywhere else listener.host
    return host_port(*(advertised or (host, listener.port)))
