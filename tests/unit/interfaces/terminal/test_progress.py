from __future__ import annotations

import pytest

from interfaces.terminal.progress import Line, bar


def test_a_bar_has_no_colour_where_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert bar("verify", 0.5) == f"verify  50% [{'#' * 15}{'.' * 15}]"
    assert bar("verify", 1.2) == f"verify 100% [{'#' * 30}]"
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[" in bar("verify", 0.5)


@pytest.mark.parametrize(
    ("is_terminal", "term", "wanted"),
    [(False, "xterm", True), (True, "dumb", True), (True, "xterm", False)],
)
def test_a_line_is_for_a_terminal_that_can_move_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
    term: str,
    wanted: bool,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setenv("TERM", term)
    line = Line(wanted=wanted)
    line.draw("half")
    line.clear()
    assert capsys.readouterr() == ("", "")


def test_a_line_that_was_drawn_goes_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    line = Line()
    line.clear()
    line.draw("half")
    line.clear()
    assert capsys.readouterr().err == "\r\x1b[Khalf\r\x1b[K"
