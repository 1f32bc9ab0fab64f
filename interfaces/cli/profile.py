"""`ottla profile create|list|use|delete`: named clusters; values of options are never printed."""

from __future__ import annotations

import argparse

from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.output import show_rows
from interfaces.terminal.profiles import Profile, Profiles, read_profiles, write_profiles


def create(parsed: argparse.Namespace) -> int:
    profiles = _read()
    if parsed.name in profiles.all:
        raise CommandFailed(f"profile {parsed.name} exists (`ottla profile delete {parsed.name}`)")
    options = dict(parsed.client_options)
    profiles.all[parsed.name] = Profile(parsed.bootstrap_server, parsed.admin, options)
    _write(profiles._replace(current=parsed.name))
    print(f"{parsed.name}: created and in use")
    return 0


def list_profiles(parsed: argparse.Namespace) -> int:
    profiles = _read()
    rows = [
        {
            "name": name,
            "bootstrap": one.bootstrap,
            "admin": one.admin,
            "options": sorted(one.options),
            "in_use": name == profiles.current,
        }
        for name, one in profiles.all.items()
    ]
    show_rows(rows, parsed.output, ("name", "bootstrap", "admin", "options", "in_use"))
    return 0


def use(parsed: argparse.Namespace) -> int:
    profiles = _found(parsed)
    _write(profiles._replace(current=parsed.name))
    print(f"{parsed.name}: in use")
    return 0


def delete(parsed: argparse.Namespace) -> int:
    profiles = _found(parsed)
    del profiles.all[parsed.name]
    _write(profiles._replace(current=None) if profiles.current == parsed.name else profiles)
    print(f"{parsed.name}: deleted")
    return 0


def _found(parsed: argparse.Namespace) -> Profiles:
    profiles = _read()
    try:
        profiles.find(parsed.name)
    except ValueError as missing:
        raise CommandFailed(str(missing)) from None
    return profiles


def _read() -> Profiles:
    try:
        return read_profiles()
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None


def _write(profiles: Profiles) -> None:
    try:
        write_profiles(profiles)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    except OSError as failure:
        raise CommandFailed(f"{failure.filename}: {failure.strerror}") from None
