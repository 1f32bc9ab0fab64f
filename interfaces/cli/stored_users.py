"""`ottla user ... --data DIR`: users of a stopped broker, as `kafka-storage format --add-scram`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from application.ports.commit import at_once
from application.ports.user_repository import UserRepository
from domain.errors import StorageFailed
from domain.security.scram import MAX_ITERATIONS, MECHANISMS, MIN_ITERATIONS
from infrastructure.opening import contents, folder_of, open_storage
from infrastructure.security.authority import CLIENT, FOLDER
from infrastructure.security.password_hashing import credentials_of
from infrastructure.storage.errors import StorageUnusable
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.output import confirmed, show_rows

COLUMNS = ("user", "mechanisms", "iterations")


def set_password(parsed: argparse.Namespace, secret: str) -> None:
    if not MIN_ITERATIONS <= parsed.iterations <= MAX_ITERATIONS:
        raise UsageError(f"--iterations: expected {MIN_ITERATIONS} to {MAX_ITERATIONS}")
    made = credentials_of(secret, parsed.iterations)
    chosen = {MECHANISMS[name] for name in parsed.mechanisms or parsed.all_mechanisms}
    with _users(parsed.data) as users:
        old = users.load().get(parsed.name, {})
        users.save(parsed.name, {**old, **{one: made[one] for one in made if one in chosen}})


def files_with_password(data: str, name: str) -> list[Path]:
    """What `ottla serve --secure` wrote for clients."""
    path = folder_of(data).path / FOLDER / CLIENT
    try:
        return [path] if f'username="{name}"' in path.read_text("utf-8") else []
    except (OSError, UnicodeDecodeError):
        return []


def names(data: str) -> set[str]:
    with _users(data, changed=False) as users:
        return set(users.load())


def list_users(parsed: argparse.Namespace) -> int:
    with _users(parsed.data, changed=False) as users:
        found = users.load()
    rows = [
        {
            "user": name,
            "mechanisms": [one.sasl_name for one in credentials],
            "iterations": [one.iterations for one in credentials.values()],
        }
        for name, credentials in sorted(found.items())
    ]
    show_rows(rows, parsed.output, COLUMNS)
    return 0


def delete(parsed: argparse.Namespace) -> int:
    missing = [name for name in parsed.names if name not in names(parsed.data)]
    if missing:
        raise CommandFailed(f"user {', '.join(missing)} does not exist")
    if not confirmed(f"Delete {', '.join(parsed.names)}?", parsed.yes):
        return 1
    with _users(parsed.data) as users:
        for name in parsed.names:
            users.save(name, {})
    for name in parsed.names:
        print(f"{name}: deleted")
    return 0


@contextmanager
def _users(data: str, changed: bool = True) -> Iterator[UserRepository]:
    """Commits what was changed. Raises CommandFailed, also while a broker uses the folder."""
    try:
        folder = folder_of(data)
        if not folder.has_store():
            raise CommandFailed(f"no store in {data}")
        storage = open_storage(folder.url, read_only=not changed)
        with closing(storage.commit):
            yield contents(storage).users
            if changed:
                at_once(storage.commit.commit)
    except (StorageUnusable, StorageFailed) as failure:
        raise CommandFailed(str(failure)) from None
