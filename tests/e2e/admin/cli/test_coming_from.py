from __future__ import annotations

import re
import shlex

import pytest

from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import ROOT

PAGE = (ROOT / "docs/coming-from.md").read_text("utf-8")
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
COMMAND = re.compile(
    r"`ottla ((?!serve|storage|import|export|requests|cluster (?:drain|unregister))[^`]+ [^`]+"
    r"|doctor)`"
)


@pytest.mark.parametrize("section", ["Apache Kafka", "Redpanda"])
def test_the_commands_that_replace_those_of_another_broker_run(ottla: Ottla, section: str) -> None:
    [text] = [each for each in SECTIONS if each.startswith(section)]
    commands = COMMAND.findall(text.split("\n\n")[1])
    assert len(commands) > 5
    for line in commands:
        ottla.run(*shlex.split(line), stdin=b"a record\n")
