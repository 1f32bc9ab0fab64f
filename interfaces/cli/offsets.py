"""`ottla offsets`: start and end offsets, and offsets of timestamps."""

from __future__ import annotations

import argparse

from interfaces.cli.client import Clients
from interfaces.cli.failures import UsageError
from interfaces.cli.output import show_rows
from interfaces.cli.positions import END, START, TIME, bounds_of, chosen, position, resolved


def offsets(parsed: argparse.Namespace) -> int:
    positions = {text: position(text) for text in parsed.at or ("start", "end")}
    for text, one in positions.items():
        if one.kind not in (START, END, TIME):
            raise UsageError(f"--at {text}: expected start, end or @TIMESTAMP")
    clients = Clients(parsed)
    admin = clients.admin()
    places = [
        place
        for topic in dict.fromkeys(parsed.topics)
        for place in chosen(clients, admin, topic, parsed.partitions)
    ]
    found = bounds_of(clients, admin, places, *positions.values())
    rows = []
    for topic, number in places:
        row: dict[str, object] = {"topic": topic, "partition": number}
        for (text, one), bounds in zip(positions.items(), found, strict=True):
            row[text] = resolved(one, bounds[topic, number])
        rows.append(row)
    show_rows(rows, parsed.output, ("topic", "partition", *positions))
    return 0
