"""Prints docs/behaviour.md with the table of differences: `python -m tests.oracle.docs`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from interfaces.kafka.requests.apis import APIS
from tests.oracle.access_differences import ACCESS_DIFFERENCES
from tests.oracle.conversation_differences import CONVERSATION_DIFFERENCES
from tests.oracle.difference import Difference, shown
from tests.oracle.differences import DIFFERENCES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "behaviour.md"
BEGIN = "<!-- written by `scripts/docs` from tests/oracle/differences.py -->"
END = "<!-- end of what is written -->"
_HEAD = "versions | request | field | Kafka | Ottla | why |\n"
_FEW_RIGHTS = """\
With `authorizer.class.name`. The stranger has no rights, the describer may Describe and
DescribeConfigs everything, `partial` has all rights to resources whose names begin with `ok-`, the
admin to all."""


def render(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{''.join(_sections())}\n{END}{after}"


def _sections() -> Iterable[str]:
    for api in APIS:
        rows = [row for row in DIFFERENCES if row.api == api.name]
        if rows:
            yield f"\n### {api.title}\n\n| {_HEAD}"
            yield f"| {' | '.join(['---'] * 6)} |\n"
            yield from (_line(row) for row in rows)
    yield f"\n### Clients with few rights\n\n{_FEW_RIGHTS}\n\n| API | {_HEAD}"
    yield f"| {' | '.join(['---'] * 7)} |\n"
    for api in APIS:
        rows = [row for row in ACCESS_DIFFERENCES if row.api == api.name]
        yield from (f"| {api.title} {_line(row)}" for row in rows)
    yield "\n### SASL conversations\n\n| conversation | Kafka | Ottla | why |\n"
    yield f"| {' | '.join(['---'] * 4)} |\n"
    yield from (f"| {' | '.join(row[1:])} |\n" for row in CONVERSATION_DIFFERENCES)


def _line(row: Difference) -> str:
    request = "any" if row.at == ("*",) else "; ".join(_requests(row.at))
    field = {"": "the response", "*": "the response"}.get(row.field, f"`{row.field}`")
    cells = (row.versions, request, field, shown(row.kafka), shown(row.ours), row.reason)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _requests(at: tuple[str, ...]) -> Iterable[str]:
    """Names the scenario once for consecutive steps of it."""
    last = ""
    for place in at:
        scenario, _, step = place.partition(": ")
        name = "any" if step == "*" else step.rstrip("*")
        yield name if scenario == last else f"{scenario}: {name}"
        last = scenario


if __name__ == "__main__":
    print(render(PAGE.read_text("utf-8")), end="")
