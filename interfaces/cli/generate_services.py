"""A unit for systemd and a file for Docker Compose."""

from __future__ import annotations

import shutil

#: Where the command is not found on this machine.
USUAL_COMMAND = "/usr/local/bin/ottla"


def systemd_unit(admin: str) -> str:
    """It is told when clients can be served; data is in /var/lib/ottla, of a user of its own."""
    command = shutil.which("ottla") or USUAL_COMMAND
    return f"""\
# /etc/systemd/system/ottla.service
[Unit]
Description=Ottla, a Kafka-compatible broker
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart={command} serve --data /var/lib/ottla --admin {admin} --log-format json
Restart=on-failure
# A stop answers what is under way: longer than drain.timeout.ms, twice.
TimeoutStopSec=30
DynamicUser=yes
StateDirectory=ottla
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
"""


def compose_file() -> str:
    """Built from a checkout. Clients in other containers use ottla:9092, those outside
    localhost:9094: each is told an address that it can reach.
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
      - --set=advertised.listeners=INSIDE://ottla:9092,OUTSIDE://localhost:9094
      - --set=admin.allowed.hosts=ottla
      - --admin=0.0.0.0:8082
      - --data=/data
    ports:
      - "9094:9094"
      - "127.0.0.1:8082:8082"
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
