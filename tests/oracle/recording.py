"""Recorded responses of Kafka: `recorded/API.jsonl`, one line per step, responses by version."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracle.scenario import Scenario, spans, versions_in
from tests.oracle.scenario_run import Exchange

FOLDER = Path(__file__).parent / "recorded"
Runs = dict[tuple[str, int], list[Exchange]]  # by title and version


def written(runs: Runs) -> dict[str, str]:
    """Returns the text of each file by its name."""
    steps: dict[str, dict[str, list[int]]] = {}  # versions by response by step
    for (title, version), exchanges in runs.items():
        for number, one in enumerate(exchanges):
            head = {"scenario": title, "number": number, "step": one.step, "request": one.request}
            responses = steps.setdefault(json.dumps(head), {})
            responses.setdefault(json.dumps(one.response), []).append(version)
    files: dict[str, list[str]] = {}
    for head_text, responses in steps.items():
        line = json.loads(head_text)
        line["answers"] = {spans(v): json.loads(response) for response, v in responses.items()}
        api = line["scenario"].partition("/")[0]
        files.setdefault(f"{api}.jsonl", []).append(json.dumps(line) + "\n")
    return {name: "".join(lines) for name, lines in files.items()}


def recorded(scenarios: Iterable[Scenario], folder: Path = FOLDER) -> Runs:
    runs: dict[tuple[str, int], list[tuple[int, Exchange]]] = {}
    for api in sorted({one.api for one in scenarios}):
        path = folder / f"{api}.jsonl"
        for text in path.read_text().splitlines() if path.exists() else ():
            line: dict[str, Any] = json.loads(text)
            for versions, response in line["answers"].items():
                exchange = Exchange(line["step"], line["request"], response)
                for version in versions_in(versions):
                    numbered = runs.setdefault((line["scenario"], version), [])
                    numbered.append((line["number"], exchange))
    return {
        key: [exchange for _, exchange in sorted(numbered, key=lambda one: one[0])]
        for key, numbered in runs.items()
    }
