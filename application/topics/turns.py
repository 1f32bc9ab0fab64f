"""In turn: what is to change again while a change of it is on its way to the disk waits for that,
and builds on what has come of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from application.commits import Commits
from application.pending import Pending
from domain.errors import StorageFailed

T = TypeVar("T")


def after_the_change(commits: Commits, attempt: Callable[[], T | Pending[T]]) -> Pending[T]:
    """Looks again when the commit under way is done, well or badly; `attempt` may wait again."""
    pending: Pending[T] = Pending()

    def committed(_: StorageFailed | None) -> None:
        result = attempt()
        if isinstance(result, Pending):
            result.then(pending.resolve)
        else:
            pending.resolve(result)

    commits.when_committed(committed, staged=False)
    return pending
