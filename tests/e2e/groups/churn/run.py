"""One churn and its outcome."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.broker_process import Address
from tests.e2e.groups.churn.chain import MIXED, PARTITIONS, Chain
from tests.e2e.groups.churn.history import held_by_two, lost, repeated
from tests.e2e.groups.churn.schedule import schedule
from tests.e2e.groups.churn.watcher import Watcher
from tests.e2e.groups.numbers import Numbers

SETTLE_S = 30.0


@dataclass(frozen=True)
class Outcome:
    seed: int
    protocol: str
    produced: int
    repeated: int
    happened: Counter[str]
    most_at_once: int
    #: Polls of the broker, and views of stable groups.
    polls: int
    stable_views: int
    #: The newest generation (or epoch) of each stage.
    generations: list[int]
    #: Errors of members, counted.
    complaints: Counter[str]
    settled_s: float
    wrong: list[str]

    def lines(self) -> list[str]:
        happened = ", ".join(f"{count} {what}" for what, count in self.happened.items())
        refused = ", ".join(f"{count} {what}" for what, count in self.complaints.most_common(5))
        return [
            f"{self.protocol}, seed {self.seed}: {happened}; up to {self.most_at_once} members",
            f"  {self.produced} records through three stages, {self.repeated} were repeated",
            f"  generations {self.generations}; {self.polls} polls, {self.stable_views} stable",
            f"  refused: {refused or 'nothing'}; settled {self.settled_s:.1f} s after the churn",
            *(f"  WRONG: {wrong}" for wrong in self.wrong[:20]),
        ]


def churn(
    address: Address, protocol: str, seed: int, seconds: float, most: int, folder: Path
) -> Outcome:
    chain = Chain(address, protocol, most, folder)
    chain.create_topics()
    checkers = chain.checkers()
    numbers = Numbers(address.bootstrap, chain.topics[0], partitions=PARTITIONS)
    try:
        with chain.reading_the_end(), Watcher(address, checkers, protocol) as watcher:
            stuck = live_through(chain, numbers, seed, seconds)
            ended = time.monotonic()
            stuck = stuck or come_to_an_end(chain, watcher, numbers.all())
            settled_s = time.monotonic() - ended
    finally:
        chain.close()
    reports = chain.reports()
    missing = lost(numbers.all(), chain.arrived)
    troubles = [trouble for _, _, member in chain.all_members for trouble in member.troubles]
    return Outcome(
        seed,
        protocol,
        numbers.produced,
        repeated(chain.arrived),
        chain.happened,
        chain.most_at_once,
        sum(checker.polls for checker in checkers),
        sum(checker.stable_views for checker in checkers),
        [
            max((one.generation for one in reports if one.group == link.group), default=-1)
            for link in chain.links
        ],
        Counter(troubles),
        settled_s,
        [
            *stuck,
            *(f"{value} was lost" for value in missing[:5]),
            # An empty group that is converted starts with new numbers, as in Kafka.
            *(held_by_two(reports) if protocol != MIXED else ()),
            *(wrong for checker in checkers for wrong in checker.wrong),
        ],
    )


def live_through(chain: Chain, numbers: Numbers, seed: int, seconds: float) -> list[str]:
    """Runs the schedule while records flow; returns the step that failed."""
    pause = threading.Event()
    with numbers.flowing():
        for step in schedule(seed, seconds):
            pause.wait(step.pause_ms / 1_000)
            try:
                chain.take(step)
            except AssertionError as stuck:
                return [f"{step}: {stuck}"]
    return []


def come_to_an_end(chain: Chain, watcher: Watcher, produced: list[str]) -> list[str]:
    """Waits for all records and stable groups; otherwise returns their state."""
    chain.fill_up()
    try:
        chain.wait_until_all_arrived(produced)
        chain.wait_until_shared()
        watcher.wait_until_settled(SETTLE_S)
    except AssertionError as stuck:
        views = [f"the broker's view: {view}" for view in watcher.newest.values()]
        alive = [f"stage {one.stage + 1}: {one.member}" for one in chain.alive]
        return [str(stuck), *views, *alive]
    return []
