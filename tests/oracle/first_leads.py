"""A broker of several, the first of which leads all new partitions:

python -m tests.oracle.first_leads serve ...
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from domain.cluster import registration
from domain.cluster.nodes import Node

PROGRAM = (sys.executable, "-P", "-m", "tests.oracle.first_leads")
_place = registration.place


def _on_the_first(nodes: Sequence[Node], factor: int, _start: int) -> tuple[int, ...]:
    return _place(nodes, factor, 0)


if __name__ == "__main__":
    registration.place = _on_the_first  # before others import it
    from interfaces.main.__main__ import main

    sys.exit(main())
