"""A unit for systemd and a file for Docker Compose."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

#: Where the command is not found on this machine.
USUAL_COMMAND = "/usr/local/bin/ottla"
#: What ProtectHome=yes hides from a unit.
HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


def systemd_unit(
    admin: str, python: Path = Path(sys.executable), homes: Sequence[Path] = HOMES
) -> str:
    """With Type=notify, as the broker reports when it serves; data is in /var/lib/ottla."""
    command, places = _command(python)
    # systemd splits at blanks and replaces specifiers like %h.
    quoted = str(command).replace("%", "%%")
    if " " in quoted:
        quoted = f'"{quoted}"'
    in_home = any(place.is_relative_to(home) for place in places for home in homes)
    return f"""\
# /etc/systemd/system/ottla.service
[Unit]
Description=Ottla, a Kafka-compatible broker
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={quoted} serve --data /var/lib/ottla --admin {admin} --log-format json
Restart=on-failure
# A stop answers what is under way: longer than drain.timeout.ms, twice.
TimeoutStopSec=30
{_user(places)}
StateDirectory=ottla
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=strict
{"# The command is in a home, which yes would hide." if in_home else "# No home is needed."}
ProtectHome={"read-only" if in_home else "yes"}
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
"""


def _command(python: Path) -> tuple[Path, list[Path]]:
    """That of this installation, which need not be on the PATH; and the files that it runs."""
    beside = python.parent / "ottla"
    if beside.is_file():
        # A venv's python is often a link to one elsewhere.
        return beside, [beside, beside.resolve(), python.resolve()]
    found = Path(shutil.which("ottla") or USUAL_COMMAND)
    return found, [found, found.resolve()]


def _user(places: list[Path]) -> str:
    for folder in (folder for place in places for folder in reversed(place.parents)):
        if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
            owner = _owner(folder)
            return (
                f"# DynamicUser=yes would be safer, but only {owner} can enter {folder}:\n"
                "# install Ottla outside of it (python3 -m venv /opt/ottla) and generate again.\n"
                f"User={owner}"
            )
    return "DynamicUser=yes"


def _owner(folder: Path) -> str:
    try:
        return folder.owner()
    except KeyError:  # in a container users often have no name
        return str(folder.stat().st_uid)


def compose_file() -> str:
    """Built from a checkout. Clients in other containers use ottla:9092, those on the machine
    localhost:9092, which is another port within the container: as a broker sends its clients to an
    advertised address, each of both needs a listener of its own.
    """
    return """\
# compose.yaml, beside a checkout of Ottla (or OTTLA_SOURCE=where it is)
services:
  ottla:
    build:
      context: ${OTTLA_SOURCE:-.}
      dockerfile_inline: |
        FROM python:3.12-slim
        COPY . /src
        RUN pip install --no-cache-dir /src && useradd --create-home ottla \\
         && mkdir /data && chown ottla /data
        USER ottla
        ENTRYPOINT ["ottla"]
    command:
      - serve
      - --listen=INSIDE://0.0.0.0:9092
      - --listen=OUTSIDE://0.0.0.0:9094
      - --set=advertised.listeners=INSIDE://ottla:9092,OUTSIDE://localhost:9092
      - --set=admin.allowed.hosts=ottla
      - --admin=0.0.0.0:8082
      - --data=/data
    ports:
      # localhost may be either; without IPv6 on this machine, leave out [::1].
      - "127.0.0.1:9092:9094"
      - "[::1]:9092:9094"
      - "127.0.0.1:8082:8082"
      - "[::1]:8082:8082"
    volumes:
      - data:/data
    stop_grace_period: 30s
    healthcheck:
      test:
        - CMD
        - python
        - -c
        - import urllib.request; urllib.request.urlopen('http://127.0.0.1:8082/readyz')
      interval: 10s
      start_period: 10s
volumes:
  data:
"""
