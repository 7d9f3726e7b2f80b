"""Write buffer for the trials of new sessions.

Inserting the trials takes half of the time between consent and the first trial. With ``BUFFER_TRIALS`` the
web server therefore shows them before they are stored, and inserts those of half a second together. Trials
are a function of the session's list and token, so nothing is lost when the server is killed before:
:func:`~judgments.sessions.trials.prepare_trials` inserts the same trials on demand.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from judgments.models import Session, Trial
from judgments.sessions.trials import (
    TrialRow,
    n_public_ids,
    rotation_key,
    rotation_of,
    trials_of,
    write_trials,
)
from judgments.sql.compiled_queries import Compiled
from judgments.sql.statements import insert_rows, padded, write_lock

FLUSH_AFTER_S = 0.5
CHANGING_FIELDS = ("status", "screen", "last_seen_at")  # every step of a participant changes one of them
SHARED_FIELDS = ("position", "kind", "block", "public_id", "expected_first", "shown", "correct")
ID_MARK = f"here{token_hex(12)}-"  # random, so that no sentence contains it
MAX_PATTERNS = 500
log = logging.getLogger(__name__)

PatternKey = tuple[str, int | None, str]  # digest of the version, list, key of the rotation


@dataclass(frozen=True)
class TrialPattern:
    """The trials that sessions of one list have in common, with numbered placeholders for the public ids."""

    key: PatternKey
    trials: tuple[TrialRow, ...]
    n_ids: int


patterns: dict[PatternKey, TrialPattern] = {}


@dataclass
class BufferedSession:
    """A session whose trials are not stored yet."""

    session: Session
    rotation: int
    shown_at: datetime | None = None  # of the first trial

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The columns of the trials to insert."""
        rows = trials_of(self.session, rotation=self.rotation)
        if self.shown_at is not None:
            rows[0]["shown_at"] = self.shown_at
        return rows

    @property
    def trials(self) -> list[TrialRow]:
        """The trials as rows; none has a key or an answer yet."""
        return [_trial_row(row) for row in self.rows]

    @property
    def pattern(self) -> TrialPattern:
        """The pattern of this session's trials, shared with other sessions of its list."""
        session = self.session
        key = (session.version.sha256, session.list_id, rotation_key(session, self.rotation))
        pattern = patterns.get(key)
        if pattern is None:
            marks = [f"{ID_MARK}{number}." for number in range(n_public_ids(session))]
            rows = trials_of(session, rotation=self.rotation, ids=iter(marks))
            if len(patterns) >= MAX_PATTERNS:
                patterns.clear()
            pattern = patterns[key] = TrialPattern(key, tuple(map(_trial_row, rows)), len(marks))
        return pattern


def _trial_row(row: Mapping[str, Any]) -> TrialRow:
    """Convert the columns of a trial that is not stored yet."""
    shared = {name: row[name] for name in SHARED_FIELDS}
    return TrialRow(pk=0, session_id=0, pair=None, is_answered=False, shown_at=row.get("shown_at"), **shared)


class TrialBuffer:
    """Sessions that started in this process and whose trials are not stored yet, by token."""

    def __init__(self) -> None:
        self.by_token: dict[str, BufferedSession] = {}
        self.is_timed = False  # a timer runs that will flush
        self.lock, self.writing = threading.Lock(), threading.Lock()

    def add(self, session: Session) -> None:
        """Buffer the trials of a session once its transaction commits; without buffering, insert them now."""
        if not settings.BUFFER_TRIALS:
            write_trials(session)
            return
        transaction.on_commit(lambda: self._buffer(session))

    def _buffer(self, session: Session) -> None:
        buffered = BufferedSession(session, rotation_of(session))
        with self.lock:
            is_timed, self.is_timed = self.is_timed, True
            self.by_token[session.token] = buffered
        if not is_timed:
            timer = threading.Timer(FLUSH_AFTER_S, self._flush_in_background)
            timer.daemon = True
            timer.start()

    def get(self, session: Session) -> BufferedSession | None:
        """The buffered state of a session just loaded, unless another process has advanced the session."""
        buffered = self.by_token.get(session.token)
        if buffered is None or any(
            getattr(buffered.session, name) != getattr(session, name) for name in CHANGING_FIELDS
        ):
            return None
        return buffered

    def note_shown(self, token: str, shown_at: datetime) -> bool:
        """Record when the first trial was shown; False if the trials are stored or being stored."""
        with self.lock:
            buffered = self.by_token.get(token)
            if buffered is not None and buffered.shown_at is None:
                buffered.shown_at = shown_at
        return buffered is not None

    def flush_for(self, token: str) -> None:
        """Flush all trials if those of this session are buffered or being stored."""
        # Race: a running flush has already emptied by_token; wait until it commits.
        if token in self.by_token or self.writing.locked():
            self.flush()

    def flush(self) -> None:
        """Insert all buffered trials; those that fail are inserted by the next request that needs them."""
        with self.writing:
            with self.lock:
                buffered, self.by_token = list(self.by_token.values()), {}
            if buffered:
                with write_lock(), transaction.atomic():
                    _insert(buffered)

    def _flush_in_background(self) -> None:
        with self.lock:
            self.is_timed = False
        if not self.by_token:
            return
        try:
            self.flush()
        except DatabaseError as problem:
            log.warning("buffered trials were not stored and will be written on demand: %s", problem)
        finally:
            connection.close()  # the timer's thread has a connection of its own


trial_buffer = TrialBuffer()


def _insert(sessions: Sequence[BufferedSession]) -> None:
    """Insert the trials of the sessions that are still active, in one statement."""
    active = {pk for (pk,) in _lock_active(*padded([buffered.session.pk for buffered in sessions]))}
    rows = [row for buffered in sessions if buffered.session.pk in active for row in buffered.rows]
    # Race: another process may have inserted the same rows first; the unique constraint leaves them out.
    insert_rows(Trial, rows, ignore_conflicts=True)


# Race: the row lock makes an erasure wait until the trials are inserted, so that it deletes them.
_lock_active = Compiled(
    lambda *keys: (
        Session.objects.filter(pk__in=keys, status=Session.Status.ACTIVE)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )
)
