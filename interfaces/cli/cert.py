"""`ottla cert create|show|renew`: the certificates in a data folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from infrastructure.security.authority import (
    AUTHORITY,
    BROKER,
    FOLDER,
    Certificate,
    certificates_of,
    issue,
    make_authority,
    names_of_this_host,
)
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import show_rows

_COLUMNS = ("file", "subject", "issuer", "names", "not_before", "not_after", "days_left", "sha256")


def show(parsed: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    rows = []
    for path in _files(Path(parsed.place)):
        for certificate in _certificates(path):
            rows.append(
                {
                    "file": path.name,
                    "subject": certificate.subject,
                    "issuer": certificate.issuer,
                    "names": certificate.names,
                    "not_before": f"{certificate.not_before:%Y-%m-%d}",
                    "not_after": f"{certificate.not_after:%Y-%m-%d}",
                    "days_left": (certificate.not_after - now).days,
                    "sha256": certificate.fingerprint,
                }
            )
    show_rows(rows, parsed.output, _COLUMNS)
    return 0


def create(parsed: argparse.Namespace) -> int:
    folder = Path(parsed.folder) / FOLDER
    try:
        make_authority(folder, datetime.now(UTC))
    except FileExistsError as there:
        raise CommandFailed(
            f"{there.filename} exists (`ottla cert renew {parsed.folder}`)"
        ) from there
    except OSError as failure:
        raise _unreadable(Path(failure.filename or folder), failure.strerror) from failure
    return _issue(folder, parsed.names or names_of_this_host())


def renew(parsed: argparse.Namespace) -> int:
    folder = Path(parsed.folder) / FOLDER
    return _issue(folder, parsed.names or _certificates(folder / BROKER)[0].names)


def _issue(folder: Path, names: Sequence[str]) -> int:
    try:
        issue(folder, names, datetime.now(UTC))
    except OSError as failure:
        raise _unreadable(Path(failure.filename or folder), failure.strerror) from failure
    except ValueError as damage:
        raise CommandFailed(f"no certificate is made in {folder}: {damage}") from damage
    [certificate] = _certificates(folder / BROKER)
    print(f"{folder / BROKER}: {', '.join(names)}, until {certificate.not_after:%Y-%m-%d}")
    return 0


def _files(place: Path) -> Sequence[Path]:
    if not place.is_dir():
        return [place]
    return [place / FOLDER / BROKER, place / FOLDER / AUTHORITY]


def _certificates(path: Path) -> list[Certificate]:
    try:
        return certificates_of(path)
    except OSError as failure:
        raise _unreadable(path, failure.strerror) from failure
    except ValueError as damage:
        raise CommandFailed(f"{path} has no certificate in PEM: {damage}") from damage


def _unreadable(path: Path, reason: str | None) -> CommandFailed:
    return CommandFailed(f"{path}: {reason}")
