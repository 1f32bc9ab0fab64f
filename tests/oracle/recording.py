"""What Kafka answered: `recorded/API.jsonl`, a line for each step, its answers by version."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracle.scenario import Scenario, spans, versions_in
from tests.oracle.teller import Told

FOLDER = Path(__file__).parent / "recorded"
Runs = dict[tuple[str, int], list[Told]]  # by the scenario's title and the version


def written(runs: Runs) -> dict[str, str]:
    """The text of each file, by its name."""
    steps: dict[str, dict[str, list[int]]] = {}  # versions by answer by step
    for (title, version), told in runs.items():
        for number, one in enumerate(told):
            head = {"scenario": title, "number": number, "step": one.step, "request": one.request}
            answers = steps.setdefault(json.dumps(head), {})
            answers.setdefault(json.dumps(one.answer), []).append(version)
    files: dict[str, list[str]] = {}
    for head_text, answers in steps.items():
        line = json.loads(head_text)
        line["answers"] = {spans(v): json.loads(answer) for answer, v in answers.items()}
        api = line["scenario"].partition("/")[0]
        files.setdefault(f"{api}.jsonl", []).append(json.dumps(line) + "\n")
    return {name: "".join(lines) for name, lines in files.items()}


def recorded(scenarios: Iterable[Scenario]) -> Runs:
    runs: dict[tuple[str, int], list[tuple[int, Told]]] = {}
    for api in sorted({one.api for one in scenarios}):
        path = FOLDER / f"{api}.jsonl"
        for text in path.read_text().splitlines() if path.exists() else ():
            line: dict[str, Any] = json.loads(text)
            for versions, answer in line["answers"].items():
                told = Told(line["step"], line["request"], answer)
                for version in versions_in(versions):
                    numbered = runs.setdefault((line["scenario"], version), [])
                    numbered.append((line["number"], told))
    return {
        key: [told for _, told in sorted(numbered, key=lambda one: one[0])]
        for key, numbered in runs.items()
    }
