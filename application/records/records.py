"""Records: everything that looks into records, or makes some of its own."""

from __future__ import annotations

from dataclasses import dataclass

from application.records.browse import BrowseService
from application.records.clone import CloneService
from application.records.send import SendService
from application.records.tail import TailService


@dataclass(frozen=True)
class Records:
    browse: BrowseService
    send: SendService
    tail: TailService
    clone: CloneService
