"""Draws the diagram of docs/internals/groups.md: `python -m interfaces.kafka.group_states`.

It prints the page with a new diagram between the two marks.
"""

from __future__ import annotations

from pathlib import Path

from domain.groups.classic.states import TRANSITIONS, State

BEGINNING = (
    "<!-- drawn by interfaces/kafka/group_states.py: change domain/groups/classic/states.py -->"
)
END = "<!-- as far as here -->"
PAGE = Path("docs/internals/groups.md")


def diagram() -> str:
    lines = [f"    [*] --> {State.EMPTY.value}"]
    for source, event, target in TRANSITIONS:
        lines.append(f"    {source.value} --> {target.value}: {event.value}")
    lines.append(f"    {State.DEAD.value} --> [*]")
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def render(page: str) -> str:
    before, _, rest = page.partition(BEGINNING)
    _, mark, after = rest.partition(END)
    assert mark, "the page has no place for the diagram"
    return f"{before}{BEGINNING}\n\n{diagram()}\n\n{END}{after}"


if __name__ == "__main__":
    print(render(PAGE.read_text("utf-8")), end="")
