"""Finding: one line of the doctor, with its remedy."""

from __future__ import annotations

from typing import NamedTuple

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Finding(NamedTuple):
    level: str
    what: str
    remedy: str = ""
    #: A problem that may pass without a change of the client: a broker that starts, or is slow.
    may_pass: bool = False

    def line(self) -> str:
        return f"{self.level:<7}  {self.text()}"

    def text(self) -> str:
        return f"{self.what}. Remedy: {self.remedy}" if self.remedy else self.what


def ok(what: str) -> Finding:
    return Finding(OK, what)


def note(what: str, remedy: str = "") -> Finding:
    return Finding(NOTE, what, remedy)


def problem(what: str, remedy: str, *, may_pass: bool = False) -> Finding:
    return Finding(PROBLEM, what, remedy, may_pass)
