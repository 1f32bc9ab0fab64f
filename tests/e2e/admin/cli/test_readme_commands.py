from __future__ import annotations

import re
import shlex

from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import ROOT

BLOCK = re.compile(r"```sh\n(ottla topic create parcels .*?)```", re.DOTALL)


def test_the_commands_of_the_readme_run(ottla: Ottla) -> None:
    [block] = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    for line in block.splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program == "ottla"
        ottla.run(*words)
