"""The arguments of the client commands.

Building them imports argparse only, so that `ottla --help` is fast. Each command names its
function, which is imported when it runs.
"""

from __future__ import annotations

from interfaces.cli.arguments import (
    acl,
    cert,
    cluster,
    configs,
    doctor,
    export,
    group,
    import_,
    offsets,
    perf,
    profile,
    quota,
    raw,
    records,
    requests,
    storage,
    topic,
    txn,
    user,
)
from interfaces.terminal.words import Commands

_FAMILIES = (
    *(topic, records, raw, group, txn, cluster, configs, offsets),
    *(user, acl, quota, cert),
    *(perf, doctor, requests, profile, storage, import_, export),
)


def add_commands(commands: Commands) -> None:
    for family in _FAMILIES:
        family.add(commands)
