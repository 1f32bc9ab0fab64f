"""What happened to several brokers, to what load, and what is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tests.crash.cluster.attempts import Outcome
from tests.crash.cluster.stopping import POINTS
from tests.crash.group_readers import all_replaced

if TYPE_CHECKING:
    from tests.crash.cluster.run import Torture

#: An error of the code that a fault is patched into, or of the patch: see tests/simulation/.
OUTDATED = re.compile(r"\b(TypeError|AttributeError|ImportError|ModuleNotFoundError|NameError)\b")
ABORTED = "aborted transactions"
#: A run has four members, and about 40 faults.
MOST_REPLACED = 20
STOPS = {point: f"stops at {point}" for point in POINTS}


class Report(NamedTuple):
    seed: int
    findings: list[str]
    #: Of faults.
    kinds: Counter[str]
    lines: list[str]
    #: Of each client how much it did: none of it should be 0.
    load: Mapping[str, int] = {}
    #: What a single run may lack.
    events: Mapping[str, int] = {}
    #: Lines in logs of brokers.
    outdated: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        return self.kinds.total()

    @property
    def is_good(self) -> bool:
        return not (self.findings or self.idle or self.outdated)

    @property
    def idle(self) -> list[str]:
        """A run without them shows nothing."""
        return [what for what, count in self.load.items() if not count]


def report_of(torture: Torture, findings: list[str]) -> Report:
    """At the end."""
    lines = [line for node_id in torture.brokers.all for line in torture.log_lines(node_id)]
    outdated = tuple(line for line in lines if OUTDATED.search(line))
    ends = Counter(
        one.outcome for sender in torture.transactions.senders for one in sender.attempts
    )
    replaced = all_replaced(torture.readers)
    if replaced.total() > MOST_REPLACED:
        findings = [*findings, f"members replaced too often: {counted(replaced)}"]
    happened = {STOPS[point]: count for point, count in torture.machines.stopped.items()}
    return Report(
        torture.seed,
        findings,
        torture.kinds,
        _summary(torture, lines),
        _load(torture),
        {ABORTED: ends[Outcome.ABORTED], **happened},
        outdated,
    )


def _load(torture: Torture) -> dict[str, int]:
    load = {f"records of {one._name}": one.count for one in torture.senders}
    for sender in torture.transactions.senders:
        committed = [one for one in sender.attempts if one.outcome is Outcome.COMMITTED]
        load[f"transactions of {sender._name}"] = len(committed)
    for watcher in torture.offsets:
        commits = sum(one.commits.count for one in watcher._readers)
        load[f"commits of the members of {watcher._group}"] = commits
    load["records that were read"] = sum(torture.live.positions)
    load["records that were read committed"] = sum(map(len, torture.transactions.values.values()))
    load["questions for leaders"] = torture.leaders.polls
    for watcher in torture.offsets:
        load[f"questions for offsets of {watcher._group}"] = watcher.polls
    return load


def _summary(torture: Torture, lines: list[str]) -> list[str]:
    events: Counter[str] = Counter()
    for line in lines:
        try:
            events[json.loads(line)["event"]] += 1
        except ValueError:
            events["a line that is no JSON"] += 1
    watchers = (torture.leaders, *torture.offsets)
    late, polls = (sum(getattr(one, name) for one in watchers) for name in ("late", "polls"))
    history, machines = torture.history, torture.machines
    return [
        f"seed {torture.seed}: {torture.kinds.total()} faults in {torture.elapsed_s:.0f} s: "
        + counted(torture.kinds),
        f"{history.acknowledgements} acknowledged records, {history.epochs} leader "
        f"epochs, {sum(one.commits.count for one in torture.readers)} commits of members, "
        f"{polls} polls, {late} responses of leaders of the past",
        f"members replaced: {counted(all_replaced(torture.readers)) or 'none'}; readers: "
        f"{torture.live.deadlocks + torture.transactions.reader.deadlocks}",
        ", ".join(f"{one.count} of {one._name}" for one in torture.senders)
        + f", {history.sent_again} sent again in a new epoch of the producer, "
        f"{history.without_offset} acknowledged without an offset",
        *torture.transactions.summary,
        _longest_silence(torture),
        f"events: {counted(events, 12)}",
        *(f"did not stop at {point}: {count}" for point, count in machines.missed.items()),
        *(f"ended by itself: {line}" for line in machines.ended),
    ]


def _longest_silence(torture: Torture) -> str:
    """And until when: the faults before that have printed their times."""
    longest, name = max((one.longest, one._name) for one in torture.senders)
    until_s = longest.ended_s - torture.began_s
    return (
        f"longest silence {longest.lasted_s:.1f} s: {name}, partition {longest.partition}, "
        f"until {until_s:.1f} s"
    )


def counted(counts: Counter[str], most: int | None = None) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common(most))
