"""Finding: one line of the doctor's, with what to do about it."""

from __future__ import annotations

from typing import NamedTuple

OK, NOTE, PROBLEM = "ok", "note", "problem"


class Finding(NamedTuple):
    level: str
    what: str
    remedy: str = ""

    def line(self) -> str:
        remedy = f". Remedy: {self.remedy}" if self.remedy else ""
        return f"{self.level:<7}  {self.what}{remedy}"


def ok(what: str) -> Finding:
    return Finding(OK, what)


def note(what: str, remedy: str = "") -> Finding:
    return Finding(NOTE, what, remedy)


def problem(what: str, remedy: str) -> Finding:
    return Finding(PROBLEM, what, remedy)
