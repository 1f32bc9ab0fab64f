from __future__ import annotations

import pytest

from interfaces.terminal.progress import Line, bar


def test_no_color_removes_the_colour_of_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert bar("verify", 0.5) == f"verify  50% [{'#' * 15}{'.' * 15}]"
    assert bar("verify", 1.2) == f"verify 100% [{'#' * 30}]"
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[" in bar("verify", 0.5)


@pytest.mark.parametrize(
    ("is_terminal", "term", "enabled"),
    [(False, "xterm", True), (True, "dumb", True), (True, "xterm", False)],
)
def test_nothing_is_drawn_on_other_outputs_than_a_smart_terminal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
    term: str,
    enabled: bool,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setenv("TERM", term)
    line = Line(enabled=enabled)
    line.draw("half")
    line.clear()
    assert capsys.readouterr() == ("", "")


def test_a_drawn_line_is_cleared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    line = Line()
    line.clear()
    line.draw("half")
    line.clear()
    assert capsys.readouterr().err == "\r\x1b[Khalf\r\x1b[K"
