from __future__ import annotations

import re
import shlex
import subprocess

from tests.e2e.admin.cli.conftest import PATIENCE_S, Ottla
from tests.e2e.broker_process import ROOT, command, environment

BLOCK = re.compile(r"```sh\n(ottla topic create parcels .*?)```", re.DOTALL)


def test_the_commands_of_the_readme_run(ottla: Ottla) -> None:
    [block] = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    for line in block.splitlines():
        program, *words = shlex.split(line)
        assert program == "ottla"
        done = subprocess.run(
            command(*words),
            cwd=ROOT,
            env=environment() | {"OTTLA_BOOTSTRAP": ottla.bootstrap},
            capture_output=True,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout!r}\n{done.stderr!r}"
