"""Records the responses of a real Kafka: `python -m tests.oracle.record [--kafka LIBS]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.e2e.broker_process import Address
from tests.oracle import access, conversations
from tests.oracle.kafka import find_jars, running_kafka
from tests.oracle.recording import FOLDER, Runs, written
from tests.oracle.scenario import Scenario, all_scenarios
from tests.tool import Arguments


def run_all(scenarios: Iterable[Scenario], address: Address) -> Runs:
    return {
        (one.title, version): one.run(address, version)
        for one in scenarios
        for version in one.versions
    }


def main(arguments: list[str]) -> None:
    parser = Arguments(prog="tests.oracle.record")
    parser.add_argument("--kafka", type=Path, help="a folder with the jars of a Kafka 4.2")
    options = parser.parse_args(arguments)
    jars = options.kafka or find_jars()
    with tempfile.TemporaryDirectory() as folder, running_kafka(jars, Path(folder)) as address:
        files = written(run_all(all_scenarios(), address))
    _write(FOLDER, files)
    properties = "\n".join(access.SETTINGS)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(jars, Path(folder), properties) as address,
    ):
        runs = access.run_all(access.access_scenarios(), address)
    _write(access.FOLDER, written(runs))
    with tempfile.TemporaryDirectory() as folder:
        conversations.record(jars, Path(folder))


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
