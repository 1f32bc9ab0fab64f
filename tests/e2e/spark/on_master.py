"""Every job in one session of a master: `python -m tests.e2e.spark.on_master MASTER SERVERS ...`.

A session on another master needs a process of its own, and a JVM takes ten seconds to start.
"""

from __future__ import annotations

import sys

from interfaces.main.arguments import parser
from interfaces.spark.jobs import archive, requests, restore
from interfaces.spark.jobs.analyze import analysis
from interfaces.spark.jobs.perf import job as perf
from interfaces.spark.session import open_session


def main(master: str, servers: str, data: str, log: str, folder: str, topic: str) -> None:
    settings = {
        "spark.driver.memory": "512m",
        "spark.local.dir": f"{folder}/local",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": "2",
    }
    session = open_session("tests", master, list(settings.items()))
    tasks = ("--producers", "2", "--consumers", "1", "--duration", "1s", "--warm-up", "200ms")
    over_the_wire = ("-b", servers)
    jobs = (
        ("perf", perf.run, (*over_the_wire, *tasks, "--rate", "1000")),
        ("archive", archive.run, (*over_the_wire, topic, "--to", f"{folder}/archive")),
        ("restore", restore.run, (*over_the_wire, f"{folder}/archive", "--prefix", "again-")),
        ("analyze", analysis.run, (*over_the_wire, f"again-{topic}")),
        ("analyze", analysis.run, ("--data", data, topic)),
        ("requests", requests.run, (log,)),
    )
    for number, (name, run, words) in enumerate(jobs):
        result = f"{folder}/{number}.json"
        code = run(parser().parse_args(["spark", name, *words, "--json", result]))
        assert code == 0, (name, code)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
