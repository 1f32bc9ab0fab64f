"""Completion for bash, zsh and fish, made from the parser: what it knows, shells offer.

Every script holds one table: for the words of a command so far, its subcommands and options; and
for an option that takes one of a few words, these.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

PROGRAM = "ottla"


class Level(NamedTuple):
    """A command, and what may follow it."""

    path: tuple[str, ...]
    subcommands: dict[str, str]
    options: dict[str, str]
    #: Options, and "" for what stands alone, with the words they take.
    choices: dict[str, tuple[str, ...]]
    takes_value: frozenset[str]


def levels(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Level]:
    subcommands: dict[str, str] = {}
    options: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    takes_value: set[str] = set()
    children: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            for name, child in action.choices.items():
                subcommands[name] = helps.get(name, "")
                children.append((name, child))
        elif action.option_strings:
            for option in action.option_strings:
                options[option] = (action.help or "").replace("%%", "%")
                if action.nargs != 0:
                    takes_value.add(option)
                if action.choices:
                    choices[option] = tuple(map(str, action.choices))
        elif action.choices:
            choices[""] = tuple(map(str, action.choices))
    yield Level(path, subcommands, options, choices, frozenset(takes_value))
    for name, child in children:
        yield from levels(child, (*path, name))


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(levels(parser)))


_BASH = """\
# Completion of ottla for bash: source <(ottla completion bash)
_ottla() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local path="" word skip="" index
    for ((index = 1; index < COMP_CWORD; index++)); do
        word="${{COMP_WORDS[index]}}"
        if [ -n "$skip" ]; then skip=""; continue; fi
        case "$path|$word" in
{steps}
        esac
    done
    COMPREPLY=()
    case "$path|$before" in
{values}
    esac
    case "$path" in
{words}
    esac
}}
complete -o default -F _ottla ottla
"""


def _bash(found: list[Level]) -> str:
    steps, values, words = [], [], []
    for level in found:
        path = " ".join(level.path)
        for name in level.subcommands:
            steps.append(f'            "{path}|{name}") path="{" ".join((*level.path, name))}" ;;')
        if level.takes_value:
            some = "|".join(f'"{path}|{option}"' for option in sorted(level.takes_value))
            steps.append(f"            {some}) skip=1 ;;")
        for option, some_words in level.choices.items():
            if option:
                reply = f'COMPREPLY=($(compgen -W "{" ".join(some_words)}" -- "$current"))'
                values.append(f'        "{path}|{option}") {reply}; return ;;')
        others = sorted(level.takes_value - level.choices.keys())
        if others:
            some = "|".join(f'"{path}|{option}"' for option in others)
            values.append(f"        {some}) return ;;")
        offered = " ".join((*level.subcommands, *level.choices.get("", ()), *level.options))
        reply = f'COMPREPLY=($(compgen -W "{offered}" -- "$current"))'
        words.append(f'        "{path}") {reply} ;;')
    return _BASH.format(steps="\n".join(steps), values="\n".join(values), words="\n".join(words))


_ZSH = """\
#compdef ottla
# Completion of ottla for zsh: source <(ottla completion zsh)
_ottla() {{
    local path="" word skip="" before="${{words[CURRENT-1]}}"
    local -a offered
    local index
    for ((index = 2; index < CURRENT; index++)); do
        word="${{words[index]}}"
        if [[ -n "$skip" ]]; then skip=""; continue; fi
        case "$path|$word" in
{steps}
        esac
    done
    case "$path|$before" in
{values}
    esac
    case "$path" in
{words}
    esac
    _describe ottla offered
    [[ -n "$path" ]] && _files
}}
compdef _ottla ottla
"""


def _zsh(found: list[Level]) -> str:
    steps, values, words = [], [], []
    for level in found:
        path = " ".join(level.path)
        for name in level.subcommands:
            steps.append(f'            "{path}|{name}") path="{" ".join((*level.path, name))}" ;;')
        if level.takes_value:
            some = "|".join(f'"{path}|{option}"' for option in sorted(level.takes_value))
            steps.append(f"            {some}) skip=1 ;;")
        for option, some_words in level.choices.items():
            if option:
                offered = " ".join(some_words)
                values.append(f'        "{path}|{option}") compadd -- {offered}; return ;;')
        others = sorted(level.takes_value - level.choices.keys())
        if others:
            some = "|".join(f'"{path}|{option}"' for option in others)
            values.append(f"        {some}) _files; return ;;")
        alone = dict.fromkeys(level.choices.get("", ()), "")
        told = {**level.subcommands, **alone, **level.options}
        items = " ".join(_quoted(f"{name}:{text}") for name, text in told.items())
        words.append(f'        "{path}") offered=({items}) ;;')
    return _ZSH.format(steps="\n".join(steps), values="\n".join(values), words="\n".join(words))


_FISH = """\
# Completion of ottla for fish: ottla completion fish | source
function __ottla_path
    set -l path
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
            continue
        end
        switch "$path|$word"
{steps}
        end
    end
    test "$path" = "$argv[1]"
end
{lines}
"""


def _fish(found: list[Level]) -> str:
    steps, lines = [], []
    for level in found:
        path = " ".join(level.path)
        for name in level.subcommands:
            steps.append(f'            case "{path}|{name}"')
            steps.append(f'                set path "{" ".join((*level.path, name))}"')
        if level.takes_value:
            some = " ".join(f'"{path}|{option}"' for option in sorted(level.takes_value))
            steps += [f"            case {some}", "                set skip 1"]
        begin = f"complete -c {PROGRAM} -n {_quoted(f'__ottla_path {_double(path)}')}"
        for name, text in level.subcommands.items():
            lines.append(f"{begin} -f -a {name} -d {_quoted(text)}")
        for word in level.choices.get("", ()):
            lines.append(f"{begin} -f -a {word}")
        for option, text in level.options.items():
            kind = "-l" if option.startswith("--") else "-s"
            line = f"{begin} {kind} {option.lstrip('-')} -d {_quoted(text)}"
            if option in level.choices:
                line += f" -x -a {_quoted(' '.join(level.choices[option]))}"
            elif option in level.takes_value:
                line += " -r"
            lines.append(line)
    return _FISH.format(steps="\n".join(steps), lines="\n".join(lines))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    return f'"{text}"'
