"""The words of the commands for clients; what they mean is beside this folder.

Building them imports nothing but argparse, so that `ottla --help` and completion stay quick. Each
command names the function that runs it, which is imported when it is called.
"""

from __future__ import annotations

from interfaces.cli.arguments import cluster, doctor, group, offsets, perf, records, storage, topic
from interfaces.terminal.words import Commands

_FAMILIES = (topic, records, group, cluster, offsets, perf, doctor, storage)


def add_commands(commands: Commands) -> None:
    for family in _FAMILIES:
        family.add(commands)
