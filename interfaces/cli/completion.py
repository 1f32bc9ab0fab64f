"""Completion for bash, zsh and fish, made from the parser: what it knows, shells offer.

Every script walks through the words so far: each leads to a subcommand, or is an option whose value
is the next word. Then it offers what may stand where the cursor is. Both are the same for all
shells; only how they are written is each one's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
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

    @property
    def name(self) -> str:
        return " ".join(self.path)

    @property
    def free(self) -> list[str]:
        """Options whose value is any word."""
        return sorted(self.takes_value - self.choices.keys())

    @property
    def alone(self) -> tuple[str, ...]:
        """The words of which one stands here."""
        return self.choices.get("", ())


class Steps(NamedTuple):
    """What a word does, after the words of a command: it leads on, or the next one is its value."""

    onward: dict[str, str]
    skipping: list[str]


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
                if words := action.choices or getattr(action, "offers", None):
                    choices[option] = tuple(map(str, words))
        elif action.choices:
            choices[""] = tuple(map(str, action.choices))
    yield Level(path, subcommands, options, choices, frozenset(takes_value))
    for name, child in children:
        yield from levels(child, (*path, name))


def steps(found: Iterable[Level]) -> Steps:
    """Both by "words of the command|word"."""
    onward: dict[str, str] = {}
    skipping: list[str] = []
    for level in found:
        for word in level.subcommands:
            onward[f"{level.name}|{word}"] = " ".join((*level.path, word))
        skipping += (f"{level.name}|{option}" for option in sorted(level.takes_value))
    return Steps(onward, skipping)


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    found = list(levels(parser))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](found, steps(found))


# ---- bash and zsh: the same cases, and each its own way to offer words

_BASH = """\
# Completion of ottla for bash: source <(ottla completion bash)
_ottla() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="" word skip="" index
    for ((index = 1; index < COMP_CWORD; index++)); do
        word="${{COMP_WORDS[index]}}"
        if [ -n "$skip" ]; then skip=""; continue; fi
        case "$command|$word" in
{steps}
        esac
    done
    COMPREPLY=()
    case "$command|$before" in
{values}
    esac
    case "$command" in
{words}
    esac
}}
complete -o default -F _ottla ottla
"""

# `path` is the search path in zsh, and whoever makes it local runs nothing any more.
_ZSH = """\
#compdef ottla
# Completion of ottla for zsh: source <(ottla completion zsh)
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
_ottla() {{
    local command="" word skip="" files="" before="${{words[CURRENT-1]}}"
    local -a offered
    local index
    for ((index = 2; index < CURRENT; index++)); do
        word="${{words[index]}}"
        if [[ -n "$skip" ]]; then skip=""; continue; fi
        case "$command|$word" in
{steps}
        esac
    done
    case "$command|$before" in
{values}
    esac
    case "$command" in
{words}
    esac
    _describe ottla offered
    [[ -n "$files" && "${{words[CURRENT]}}" != -* ]] && _files
}}
compdef _ottla ottla
"""


def _bash(found: list[Level], walk: Steps) -> str:
    def offering(words: Iterable[str]) -> str:
        return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$current"))'

    values = [(case, f"{offering(words)}; return") for case, words in _choices(found)]
    return _BASH.format(
        steps=_walked(walk),
        values=_cases([*values, *((case, "return") for case in _free(found))]),
        words=_cases(
            (f'"{level.name}"', offering((*level.subcommands, *level.alone, *level.options)))
            for level in found
        ),
    )


def _zsh(found: list[Level], walk: Steps) -> str:
    def described(level: Level) -> str:
        told = {**level.subcommands, **dict.fromkeys(level.alone, ""), **level.options}
        texts = {word: text.replace("\\", "\\\\") for word, text in told.items()}
        items = (_quoted(f"{word}:{text}" if text else word) for word, text in texts.items())
        files = "" if level.subcommands or level.alone else "; files=1"
        return f"offered=({' '.join(items)}){files}"

    values = [(case, f"compadd -- {' '.join(words)}; return") for case, words in _choices(found)]
    return _ZSH.format(
        steps=_walked(walk),
        values=_cases([*values, *((case, "_files; return") for case in _free(found))]),
        words=_cases((f'"{level.name}"', described(level)) for level in found),
    )


def _walked(walk: Steps) -> str:
    skipping = "|".join(f'"{step}"' for step in walk.skipping)
    onward = [(f'"{step}"', f'command="{command}"') for step, command in walk.onward.items()]
    return _cases([*onward, (skipping, "skip=1")], "            ")


def _choices(found: Iterable[Level]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for level in found:
        for option, words in level.choices.items():
            if option:
                yield f'"{level.name}|{option}"', words


def _free(found: Iterable[Level]) -> Iterator[str]:
    for level in found:
        if level.free:
            yield "|".join(f'"{level.name}|{option}"' for option in level.free)


def _cases(pairs: Iterable[tuple[str, str]], indent: str = "        ") -> str:
    return "\n".join(f"{indent}{case}) {does} ;;" for case, does in pairs)


# ---- fish

_FISH = """\
# Completion of ottla for fish: ottla completion fish | source
function __ottla_command
    set -l command
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
            continue
        end
        switch "$command|$word"
{steps}
        end
    end
    test "$command" = "$argv[1]"
end
complete -c ottla -e
{lines}
"""


def _fish(found: list[Level], walk: Steps) -> str:
    cases = []
    for step, command in walk.onward.items():
        cases += [f'            case "{step}"', f'                set command "{command}"']
    skipping = " ".join(f'"{step}"' for step in walk.skipping)
    cases += [f"            case {skipping}", "                set skip 1"]
    lines = [line for level in found for line in _fish_lines(level)]
    return _FISH.format(steps="\n".join(cases), lines="\n".join(lines))


def _fish_lines(level: Level) -> Iterator[str]:
    condition = _quoted(f'__ottla_command "{level.name}"')
    begin = f"complete -c {PROGRAM} -n {condition}"
    for word, text in level.subcommands.items():
        yield f"{begin} -f -a {word} -d {_quoted(text)}"
    for word in level.alone:
        yield f"{begin} -f -a {word}"
    for option, text in level.options.items():
        kind = "-l" if option.startswith("--") else "-s"
        line = f"{begin} {kind} {option.lstrip('-')} -d {_quoted(text)}"
        if option in level.choices:
            line += f" -x -a {_quoted(' '.join(level.choices[option]))}"
        elif option in level.takes_value:
            line += " -r"
        yield line


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
