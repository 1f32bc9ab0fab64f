"""A broker that stops at points of a commit: python -m tests.crash.cluster.program [--fault FAULT]
[--small] serve ...
"""

from __future__ import annotations

import argparse
import sys

from tests.tool import Arguments


def command(fault: str | None = None, small: bool = False) -> list[str]:
    """`small`: its tails, so that they soon become objects."""
    options = ["--fault", fault] if fault else []
    options += ["--small"] if small else []
    return [sys.executable, "-P", "-m", "tests.crash.cluster.program", *options]


def main() -> int:
    parser = Arguments(prog="python -m tests.crash.cluster.program")
    parser.add_argument("--fault")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.fault is not None:
        from tests.crash.cluster.broken import FAULTS

        FAULTS[options.fault][0]()
    # Imported after the patch: other modules import by name what it replaces.
    from interfaces.main.__main__ import main as ottla
    from tests.crash.cluster.stopping import stop_when_told

    if options.small:
        from tests.crash.child import make_tails_small

        make_tails_small()
    stop_when_told()
    return ottla(options.arguments)


if __name__ == "__main__":
    sys.exit(main())
