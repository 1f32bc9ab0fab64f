"""The stderr of the JVM: its writers never block, and a failure has its reason."""

from __future__ import annotations

import io
import os
import sys

import pytest

from interfaces.spark.jvm import StderrTail, bars_hidden, reason_in


def test_no_writer_blocks_and_the_tail_is_available() -> None:
    stderr = StderrTail()
    for number in range(3_000):
        os.write(stderr.writes, b"%04d" % number + b"x" * 1000)  # far more than a pipe holds
    stderr.close()
    text = stderr.text()
    assert len(text) == 64 * 1024
    assert "2999xxx" in text


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_sparks_progress_bar_is_shown_unless_a_job_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    for _ in range(2):
        stderr = StderrTail()
        os.write(stderr.writes, b"\r[Stage 0:>   (0 + 2) / 4]\r")
        stderr.close()
        assert "Stage" in stderr.text()
        assert screen.getvalue() == "\r[Stage 0:>   (0 + 2) / 4]\r"
        bars_hidden.set()
    bars_hidden.clear()


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (
            "WARNING: Using incubator modules: jdk.incubator.vector\n"
            "Error: Invalid maximum heap size: -Xmxabc\n"
            "Could not create the Java Virtual Machine.\n",
            "Invalid maximum heap size: -Xmxabc",
        ),
        (
            'Exception in thread "main" org.apache.spark.SparkException: no such master\n'
            "\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)\n",
            "no such master",
        ),
        ("", ""),
    ],
)
def test_the_reason_of_a_jvm_that_did_not_start(written: str, reason: str) -> None:
    assert reason_in(written) == reason
