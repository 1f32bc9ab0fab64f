"""Churn for people: `python -m tests.e2e.groups.churn --seconds 60 --protocol consumer --seed 7`.

Against a broker of its own, or, with --bootstrap, against any: with the settings of
tests/e2e/groups/settings.py.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.e2e.broker_process import Address, BrokerProcess
from tests.e2e.groups.churn.chain import PROTOCOLS
from tests.e2e.groups.churn.run import churn
from tests.e2e.groups.settings import ARGUMENTS
from tests.tool import INTERRUPTED, Arguments, at_least_one, stop_as_if_interrupted


def main(given: list[str]) -> int:
    parser = Arguments(prog="python -m tests.e2e.groups.churn", description=__doc__)
    parser.add_argument("--seconds", type=at_least_one, default=10)
    parser.add_argument("--protocol", choices=(*PROTOCOLS, "all"), default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--members", type=at_least_one, default=20, help="of a stage, at most")
    parser.add_argument("--bootstrap", help="host:port of a broker that is there")
    options = parser.parse_args(given)
    protocols = PROTOCOLS if options.protocol == "all" else (options.protocol,)
    with tempfile.TemporaryDirectory(prefix="ottla-churn-") as name:
        folder = Path(name)
        broker = BrokerProcess(folder / "broker", "lmdb", ARGUMENTS)
        try:
            if options.bootstrap is None:
                broker.start()
                address = broker.address
            else:
                host, _, port = options.bootstrap.rpartition(":")
                address = Address(host, int(port))
            wrong = 0
            for protocol in protocols:
                outcome = churn(
                    address, protocol, options.seed, options.seconds, options.members, folder
                )
                print("\n".join(outcome.lines()), flush=True)
                wrong += len(outcome.wrong)
        finally:
            broker.kill()
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        stop_as_if_interrupted()
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
