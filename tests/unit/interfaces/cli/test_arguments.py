from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from importlib import import_module

import pytest
import shtab

from interfaces.main.arguments import parser

#: Commands that interfaces/main/__main__.py runs itself.
RUN_BY_MAIN = ("serve", "config show", "demo", "generate", "completion")


def commands(
    one: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    children = [a for a in one._actions if isinstance(a, argparse._SubParsersAction)]
    if not children:
        yield " ".join(path), one
    for action in children:
        for word, child in action.choices.items():
            yield from commands(child, (*path, word))


def test_every_command_has_a_function_that_runs_it() -> None:
    for words, one in commands(parser()):
        if words not in RUN_BY_MAIN:
            module, _, function = one.get_default("runs").partition(":")
            home = "spark" if words.startswith("spark ") else "cli"
            assert callable(getattr(import_module(f"interfaces.{home}.{module}"), function))


@pytest.mark.parametrize(
    ("value", "sent"),
    [("[compact,delete]", "compact,delete"), ("compact,delete", "compact,delete"), ("[a", "[a")],
)
def test_lists_may_have_the_brackets_of_kafkas_tools(value: str, sent: str) -> None:
    given = f"cleanup.policy={value}"
    put = parser().parse_args(["topic", "config", "set", "orders", given])
    create = parser().parse_args(["topic", "create", "orders", "-c", given])
    assert put.values == create.config == [("cleanup.policy", sent)]


def test_bash_completes_commands_options_and_their_values() -> None:
    completions = {
        "ottla to": "topic",
        "ottla topic tail x --gr": "--grep --group",
        "ottla topic config ": "get set unset",
        "ottla topic list -o ": "table json yaml",
        "ottla topic create -b topic --part": "--partitions",
    }
    script = shtab.complete(parser(), "bash")
    for line in completions:
        words = line.split(" ")
        script += f"\nCOMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}\n"
        script += '_shtab_ottla; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines() == list(completions.values()), done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_command_is_in_the_completion_of_other_shells(shell: str) -> None:
    script = shtab.complete(parser(), shell)
    for words, _ in commands(parser()):
        assert words.split()[-1] in script
