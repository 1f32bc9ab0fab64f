"""Faults in what a session makes of a commit whose connection was lost, each against one rule.

1. A commit belongs to the session under which it was staged. It is never sent under one that was
   taken after another broker had ended that session.
2. An outcome says whether the commit is kept. While that is not known, nothing is said.
3. A commit of which it is known that it is not kept, and never will be, is sent again before
   its failure is reported.

A fault is a change of the text of a method. It notes when it is passed, so that a test sees that it
has happened; a text that is not there any more fails.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.postgresql import session, statement, writer
from infrastructure.storage.postgresql.contents import NOTHING_GAINED
from infrastructure.storage.postgresql.fence import Fence
from infrastructure.storage.postgresql.loop_commits import LoopCommits
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.staged import Staged
from tests.crash.cluster.broken import fence_of_any_session, take_of_any_session

Patch = pytest.MonkeyPatch
#: Notes that the fault was passed.
Passed = Callable[[], None]
Fault = Callable[[Patch, Passed], None]
#: In `Session`, of a fault: names of the module are those of its methods.
_PASSED = "_passed"
_FAILED = 'StorageFailed("PostgreSQL cannot be reached")'
_LOST = "                self._problem = error\n"
_KNOWN = "                    if is_open and found == self._seq + 1:\n"
_VOID = "                    is_open = False\n"


def _changed(patch: Patch, passed: Passed, old: str, new: str) -> None:
    text = inspect.getsource(Session._commit)
    assert text.count(old) == 1, f"outdated: {old!r} is not there once"
    made: dict[str, Callable[..., object]] = {}
    code = compile(textwrap.dedent(text.replace(old, new)), __file__, "exec")
    exec(code, vars(session), made)
    patch.setattr(session, _PASSED, passed, raising=False)
    patch.setattr(Session, "_commit", made["_commit"])


def _indented(lines: str, columns: int) -> str:
    return textwrap.indent(textwrap.dedent(lines), " " * columns)


# ---- rule 1


def takes_a_session_after_its_own_was_ended(patch: Patch, passed: Passed) -> None:
    patch.setattr(session, "_TAKE", take_of_any_session())
    resume = Session._resume

    def noted(self: Session) -> int | None:
        passed()
        return resume(self)

    patch.setattr(Session, "_resume", noted)


def has_the_session_of_the_moment_of_sending(patch: Patch, passed: Passed) -> None:
    execute = writer._Commit.execute

    def late(self: writer._Commit, connection: Rows, fence: Fence) -> str | None:
        passed()
        newest = "select session, seq, ctid::text from ottla_fences where node_id = %s"
        [(number, seq, place)] = connection.execute(newest, (fence.node_id,)).fetchall()
        return execute(self, connection, Fence(fence.node_id, number, seq, place))

    patch.setattr(writer._Commit, "execute", late)


def ignores_the_fence(patch: Patch, passed: Passed) -> None:
    text = statement._text.__wrapped__

    def noted(used: tuple[str, ...], tail: int, old_tail: int) -> str:
        passed()
        return text(used, tail, old_tail)

    patch.setattr(statement, "_text", noted)
    patch.setattr(statement, "FENCE", fence_of_any_session())


# ---- rule 2


def reports_an_unknown_outcome_as_failure(patch: Patch, passed: Passed) -> None:
    lines = f"""\
        if is_open:
            _passed()
            self._link.drop()
            return {_FAILED}
    """
    _changed(patch, passed, _LOST, _LOST + _indented(lines, 16))


def reports_an_unknown_outcome_as_success(patch: Patch, passed: Passed) -> None:
    lines = """\
        if is_open:
            _passed()
            self._link.drop()
            self._seq += 1
            return None
    """
    _changed(patch, passed, _LOST, _LOST + _indented(lines, 16))


def reports_what_is_kept_as_failure(patch: Patch, passed: Passed) -> None:
    lines = f"""\
        if is_open and found == self._seq + 1:
            _passed()
            self._seq = found
            return {_FAILED}
    """
    _changed(patch, passed, _KNOWN, _indented(lines, 20) + _KNOWN)


def sends_again_what_is_kept(patch: Patch, passed: Passed) -> None:
    lines = """\
        if is_open and found == self._seq + 1:
            _passed()
            self._seq = found
            continue
    """
    _changed(patch, passed, _KNOWN, _indented(lines, 20) + _KNOWN)


# ---- rule 3


def fails_at_once_what_is_void(patch: Patch, passed: Passed) -> None:
    lines = f"""\
        if is_open:
            _passed()
            return {_FAILED}
    """
    _changed(patch, passed, _VOID, _indented(lines, 20) + _VOID)


def reports_what_is_void_as_success(patch: Patch, passed: Passed) -> None:
    lines = """\
        if is_open:
            _passed()
            return None
    """
    _changed(patch, passed, _VOID, _indented(lines, 20) + _VOID)


# ---- rules 2 and 3, of commits that the loop has sent


def _of_the_loop(
    patch: Patch, passed: Passed, ended: Callable[[LoopCommits, Staged], None]
) -> None:
    """`ended`: called with each commit of which the outcome is not known."""

    def fail(self: LoopCommits, _: Exception) -> None:
        passed()
        staged, *_ = self._end()
        ended(self, staged)

    patch.setattr(LoopCommits, "_fail", fail)


def reports_an_unknown_outcome_on_the_loop_as_failure(patch: Patch, passed: Passed) -> None:
    failure = StorageFailed("PostgreSQL cannot be reached")
    _of_the_loop(patch, passed, lambda commits, staged: commits._ended(staged, failure))


def reports_an_unknown_outcome_on_the_loop_as_success(patch: Patch, passed: Passed) -> None:
    def kept(commits: LoopCommits, staged: Staged) -> None:
        commits._session._seq += 1
        commits._ended(staged, NOTHING_GAINED)

    _of_the_loop(patch, passed, kept)


def sends_again_what_the_loop_has_sent(patch: Patch, passed: Passed) -> None:
    _of_the_loop(patch, passed, lambda commits, staged: commits._left(staged))
