"""`ottla user add|password|list|delete`: SCRAM credentials (KIP-554).

librdkafka salts the password here, so a broker never receives it. Users are listed by a request of
our own: librdkafka 2.16 crashes where the broker refuses DescribeUserScramCredentials as a whole.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from getpass import getpass
from typing import TYPE_CHECKING, Any

from interfaces.cli import stored_users
from interfaces.cli.client import Clients, check_code, print_each
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.output import confirmed, note, show_rows
from interfaces.terminal.profiles import resolved

if TYPE_CHECKING:
    from confluent_kafka.admin import ScramMechanism, UserScramCredentialAlteration

_RANDOM_BYTES = 18
_COLUMNS = ("user", "mechanisms", "iterations")


def add(parsed: argparse.Namespace) -> int:
    if parsed.data is not None:
        return _set_stored(parsed, "added", exists=False)
    clients = Clients(parsed)
    if parsed.name in _users(clients):
        raise CommandFailed(f"user {parsed.name} exists (`ottla user password {parsed.name}`)")
    return _set_password(parsed, clients, "added")


def password(parsed: argparse.Namespace) -> int:
    if parsed.data is not None:
        return _set_stored(parsed, "password changed", exists=True)
    clients = Clients(parsed)
    if parsed.name not in _users(clients):
        raise CommandFailed(f"user {parsed.name} does not exist (`ottla user add {parsed.name}`)")
    return _set_password(parsed, clients, "password changed")


def _set_password(parsed: argparse.Namespace, clients: Clients, done: str) -> int:
    from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism
    from confluent_kafka.admin import UserScramCredentialUpsertion as Upsertion

    admin = clients.admin()
    secret = _password_of(parsed)
    alterations: list[UserScramCredentialAlteration] = [
        Upsertion(
            parsed.name,
            ScramCredentialInfo(_mechanism(ScramMechanism, name), parsed.iterations),
            secret.encode(),
        )
        for name in parsed.mechanisms or parsed.all_mechanisms
    ]
    # A request has at most one alteration of a user.
    for alteration in alterations:
        futures = admin.alter_user_scram_credentials([alteration])
        clients.result(f"user {parsed.name}", futures[parsed.name], admin)
    _print_done(parsed, secret, done)
    return 0


def _set_stored(parsed: argparse.Namespace, done: str, *, exists: bool) -> int:
    if (parsed.name in stored_users.names(parsed.data)) is not exists:
        raise CommandFailed(f"user {parsed.name} {'does not exist' if exists else 'exists'}")
    secret = _password_of(parsed)
    stored_users.set_password(parsed, secret)
    _print_done(parsed, secret, done)
    for file in stored_users.files_with_password(parsed.data, parsed.name):
        note(f"{file} has the previous password of {parsed.name}: edit it")
    return 0


def _print_done(parsed: argparse.Namespace, secret: str, done: str) -> None:
    print(f"{parsed.name}: {done}")
    if parsed.generate:
        print(f"password: {secret}")


def list_users(parsed: argparse.Namespace) -> int:
    if parsed.data is not None:
        return stored_users.list_users(parsed)
    clients = Clients(parsed)
    rows = [
        {
            "user": name,
            "mechanisms": [_sasl_name(mechanism) for mechanism in credentials],
            "iterations": list(credentials.values()),
        }
        for name, credentials in sorted(_users(clients).items())
    ]
    show_rows(rows, parsed.output, _COLUMNS)
    return 0


def delete(parsed: argparse.Namespace) -> int:
    if parsed.data is not None:
        return stored_users.delete(parsed)
    from confluent_kafka.admin import UserScramCredentialDeletion as Deletion

    clients = Clients(parsed)
    known = _users(clients)
    names = list(dict.fromkeys(parsed.names))
    missing = [name for name in names if name not in known]
    if missing:
        raise CommandFailed(f"user {', '.join(missing)} does not exist")
    if not confirmed(f"Delete {', '.join(names)}?", parsed.yes):
        return 1
    failed = 0
    admin = clients.admin()
    credentials = {name: list(known[name]) for name in names}
    while any(credentials.values()):
        # A request has at most one alteration of a user.
        deletions = [Deletion(name, left.pop()) for name, left in credentials.items() if left]
        futures = admin.alter_user_scram_credentials(list(deletions))
        last = {name: future for name, future in futures.items() if not credentials[name]}
        for name in futures.keys() - last.keys():
            clients.result(f"user {name}", futures[name], admin)
        failed |= print_each(
            clients, last, lambda name: f"user {name}", lambda name, _: f"{name}: deleted"
        )
    return failed


def _users(clients: Clients) -> dict[str, dict[ScramMechanism, int]]:
    """With the mechanisms of each user, and their iterations."""
    from confluent_kafka.admin import ScramMechanism

    from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
        DescribeUserScramCredentialsRequest,
        DescribeUserScramCredentialsResponse,
    )

    with clients.wire("the users") as client:
        request = DescribeUserScramCredentialsRequest(users=None)
        response = client.send(request, 0, DescribeUserScramCredentialsResponse)
    check_code("the users", response.error_code, response.error_message)
    return {
        # librdkafka's numbers are Kafka's.
        one.user: {ScramMechanism(c.mechanism): c.iterations for c in one.credential_infos}
        for one in response.results
    }


def _password_of(parsed: argparse.Namespace) -> str:
    if parsed.generate:
        return secrets.token_urlsafe(_RANDOM_BYTES)
    if parsed.password is not None:
        try:
            given = resolved("--password", parsed.password)
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
    elif sys.stdin.isatty():
        given = getpass(f"Password of {parsed.name}: ")
        if getpass("Again: ") != given:
            raise CommandFailed("the passwords differ")
    else:
        raise UsageError("a password is missing: --password '${file:PATH}', or --generate")
    if not given:
        raise UsageError("the password is empty")
    return given


def _sasl_name(mechanism: Any) -> str:
    return f"SCRAM-{mechanism.name.removeprefix('SCRAM_').replace('_', '-')}"


def _mechanism(known: Any, name: str) -> Any:
    return next(one for one in known if _sasl_name(one) == name)
