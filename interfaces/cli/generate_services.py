"""A unit for systemd and a file for Docker Compose."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from interfaces.terminal.addresses import is_loopback

_DEFAULT_COMMAND = Path("/usr/local/bin/ottla")
#: What ProtectHome=yes hides from a unit.
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


def systemd_unit(
    admin: str, python: Path = Path(sys.executable), homes: Sequence[Path] = HOMES
) -> str:
    """With Type=notify: the broker reports when it is ready. Data is in /var/lib/ottla."""
    command = python.parent / "ottla"
    if not command.is_file():
        command = Path(shutil.which("ottla") or _DEFAULT_COMMAND)
    # The python of a venv is often a link to one elsewhere.
    files = (command, command.resolve(), python.resolve())
    in_home = any(file.is_relative_to(home) for file in files for home in homes)
    # systemd splits at blanks and replaces specifiers like %h.
    quoted = str(command).replace("%", "%%")
    if " " in quoted:
        quoted = f'"{quoted}"'
    # Who generates a unit for such an address means it; docs/security.md has users and TLS.
    is_local = is_loopback(admin.rpartition(":")[0].strip("[]"))
    insecure = "" if is_local else " --set admin.insecure.allowed=true"
    return f"""\
# /etc/systemd/system/ottla.service
[Unit]
Description=Ottla, a Kafka-compatible broker
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={quoted} serve --data /var/lib/ottla --admin {admin}{insecure} --log-format json
Restart=on-failure
# A stop drains requests in progress: longer than drain.timeout.ms, twice.
TimeoutStopSec=30
{_user(files)}
StateDirectory=ottla
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome={"read-only" if in_home else "yes"}
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
"""


def _user(files: Sequence[Path]) -> str:
    """The owner of a folder that other users may not enter: a home mostly."""
    for folder in (folder for file in files for folder in reversed(file.parents)):
        if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
            return (
                f"# Only the owner of {folder} may enter it. For DynamicUser=yes, install Ottla\n"
                f"# elsewhere, as in /opt/ottla, and generate again.\nUser={folder.stat().st_uid}"
            )
    return "DynamicUser=yes"


def compose_file() -> str:
    """The image is built from a checkout. Clients in other containers use ottla:9092, clients on
    the host localhost:9092, which is another port in the container: as clients connect to the
    advertised address, both need a listener of their own.
    """
    return """\
# compose.yaml, beside a checkout of Ottla (or OTTLA_SOURCE=where it is)
services:
  ottla:
    image: ottla
    build:
      context: ${OTTLA_SOURCE:-.}
      dockerfile: Containerfile
    environment:
      KAFKA_LISTENERS: INSIDE://:9092,OUTSIDE://:9094
      KAFKA_ADVERTISED_LISTENERS: INSIDE://ottla:9092,OUTSIDE://localhost:9092
      KAFKA_ADMIN_ALLOWED_HOSTS: ottla
    ports:
      # localhost may resolve to IPv4 or IPv6; without IPv6, leave out [::1].
      - "127.0.0.1:9092:9094"
      - "[::1]:9092:9094"
      - "127.0.0.1:8082:8082"
      - "[::1]:8082:8082"
    volumes:
      - data:/var/lib/ottla
    stop_grace_period: 30s
volumes:
  data:
"""
