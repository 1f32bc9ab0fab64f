from __future__ import annotations

import subprocess
from importlib import import_module

import pytest

from interfaces.cli.completion import levels, script
from interfaces.main.arguments import parser


def completed(line: str) -> list[str]:
    """What bash offers at the end of the line."""
    words = line.split(" ")
    asked = (
        f"{script(parser(), 'bash')}\n"
        f"COMP_WORDS=({' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n"
        '_ottla\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    said = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=30)
    assert (said.returncode, said.stderr) == (0, "")
    return said.stdout.split()


@pytest.mark.parametrize(
    "line, offered",
    [
        ("ottla to", ["topic"]),
        ("ottla topic c", ["create", "config"]),
        ("ottla topic config ", ["get", "set", "unset", "-h", "--help"]),
        ("ottla topic list -o ", ["table", "json", "yaml"]),
        ("ottla consume --output j", ["json"]),
        ("ottla consume -o ", ["start", "end", "text", "json"]),
        ("ottla topic create --dry", ["--dry-run"]),
        ("ottla topic -b", []),
        ("ottla topic create -b ", []),
        ("ottla group -h describe --st", ["--state"]),
        ("ottla topic create -b topic --part", ["--partitions"]),
        ("ottla completion f", ["fish"]),
    ],
)
def test_bash_offers_what_the_parser_knows(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_command_and_option_is_in_the_script(shell: str) -> None:
    text = script(parser(), shell)
    for level in levels(parser()):
        for word in level.subcommands:
            assert word in text
        for option in level.options:
            assert option.lstrip("-") in text


def commands() -> list[str]:
    """What runs each command, by its words."""
    found = []
    for level in levels(parser()):
        if not level.subcommands and level.path:
            found.append(" ".join(level.path))
    return found


@pytest.mark.parametrize("words", [c for c in commands() if c.split()[0] not in ("serve", "demo")])
def test_every_command_has_something_that_runs_it(words: str) -> None:
    one = parser()
    for word in words.split():
        [branch] = [
            a for a in one._actions if a.dest in ("command", f"{one.prog.split()[-1]}_command")
        ]
        assert branch.choices is not None
        one = branch.choices[word]  # type: ignore[index,call-overload]
    runs = one.get_default("runs")
    if runs is None:
        assert words in ("config show", "completion bash", "completion", "generate")
        return
    module, _, function = runs.partition(":")
    home = "spark" if words.startswith("spark ") else "cli"
    assert callable(getattr(import_module(f"interfaces.{home}.{module}"), function))
