"""`ottla offsets`: where partitions begin and end, and the first offset at a moment."""

from __future__ import annotations

import argparse

from interfaces.cli.client import Clients
from interfaces.cli.failures import NotUnderstood
from interfaces.cli.output import show_rows
from interfaces.cli.positions import END, START, TIME, bounds_of, chosen, position, resolved


def offsets(parsed: argparse.Namespace) -> int:
    wanted = {text: position(text) for text in parsed.at or ("start", "end")}
    for text, one in wanted.items():
        if one.kind not in (START, END, TIME):
            raise NotUnderstood(f"--at {text}: start, end or @TIMESTAMP")
    clients = Clients(parsed)
    admin = clients.admin()
    places = [
        place
        for topic in dict.fromkeys(parsed.topics)
        for place in chosen(clients, admin, topic, parsed.partitions)
    ]
    found = bounds_of(clients, admin, places, *wanted.values())
    rows = []
    for topic, number in places:
        row: dict[str, object] = {"topic": topic, "partition": number}
        for (text, one), bounds in zip(wanted.items(), found, strict=True):
            row[text] = resolved(one, bounds[topic, number])
        rows.append(row)
    show_rows(rows, parsed.output, ("topic", "partition", *wanted))
    return 0
