"""Sessions that just began: this process knows their trials at once and stores them a moment later.

Between consent and the first trial somebody waits, and storing the trials would be half of the wait. So the
web server stores those of all who arrived in the last moment together: when the moment is over, or when the
first of them answers. Trials follow from the session's list and token, so a server that is killed in between
loses nothing: :func:`~judgments.sessions.prepare.prepare_trials` writes the same ones for whoever needs them.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from typing import Any

from django.db import DatabaseError, connection, transaction

from judgments.models import Session, Trial
from judgments.sessions.compiled import Compiled, insert_rows, padded
from judgments.sessions.given import GivenTrial, trials_of_sessions
from judgments.sessions.prepare import kind_of_turn, n_ids, trials_of, turn_of, write_trials
from judgments.sessions.sittings import remember
from judgments.sessions.turns import in_turn

MOMENT_S = 0.5
MOVED = ("status", "screen", "last_seen_at")  # one of them changes with whatever a participant does
log = logging.getLogger(__name__)


@dataclass
class Begun:
    """A session whose trials are not stored yet."""

    session: Session
    turn: int
    shown_at: datetime | None = None  # the first trial

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The trials as they will be stored."""
        rows = trials_of(self.session, turn=self.turn)
        if self.shown_at is not None:
            rows[0]["shown_at"] = self.shown_at
        return rows

    @property
    def trials(self) -> list[GivenTrial]:
        """The trials as they will be read; they have no key yet, and nothing is answered."""
        return [_given(row) for row in self.rows]

    @property
    def pattern(self) -> "Pattern":
        """What this session's trials share with those of others on its list."""
        session = self.session
        key = (session.version.sha256, session.list_id, kind_of_turn(session, self.turn))
        found = patterns.get(key)
        if found is None:
            marks = [f"{MARK}{place}." for place in range(n_ids(session))]
            rows = trials_of(session, turn=self.turn, ids=iter(marks))
            if len(patterns) >= MOST_PATTERNS:
                patterns.clear()
            found = patterns[key] = Pattern(key, tuple(map(_given, rows)), len(marks))
        return found


@dataclass(frozen=True)
class Pattern:
    """The trials that sessions of one list are given, each opaque id a mark with its number."""

    key: tuple[str, int, str]
    trials: tuple[GivenTrial, ...]
    n_ids: int


SHARED = ("position", "kind", "block", "public_id", "expected_first", "shown", "correct")
MARK = f"here{token_hex(12)}-"  # nobody writes this into a sentence
MOST_PATTERNS = 500
patterns: dict[tuple[str, int, str], Pattern] = {}


def _given(row: dict[str, Any]) -> GivenTrial:
    """A row not stored yet as it will be read; whose it is, is left open."""
    shared = {name: row[name] for name in SHARED}
    return GivenTrial(
        pk=0, session_id=0, pair=None, is_answered=False, shown_at=row.get("shown_at"), **shared
    )


class Beginnings:
    """What began in this process and is not stored yet, by the session's token."""

    def __init__(self) -> None:
        self.waits = False  # only a server that lives on may store later
        self.by_token: dict[str, Begun] = {}
        self.lock, self.writing = threading.Lock(), threading.Lock()

    def begin(self, session: Session) -> None:
        """Give a new session its trials; its row is in the same transaction, or is already stored."""
        if not self.waits:
            write_trials(session)
            return
        transaction.on_commit(lambda: self._keep(session))

    def _keep(self, session: Session) -> None:
        begun = Begun(session, turn_of(session))
        with self.lock:
            is_first = not self.by_token
            self.by_token[begun.session.token] = begun
        if is_first:
            timer = threading.Timer(MOMENT_S, self._store_in_background)
            timer.daemon = True
            timer.start()

    def get(self, token: str) -> Begun | None:
        """The session of a token, if its trials are not stored yet."""
        return self.by_token.get(token)

    def still(self, session: Session) -> Begun | None:
        """The beginning of a session just read, unless it went on in another process meanwhile."""
        begun = self.get(session.token)
        if begun is None or any(getattr(begun.session, one) != getattr(session, one) for one in MOVED):
            return None
        return begun

    def show(self, token: str, at: datetime) -> bool:
        """Note when the first trial was shown; False where the trials are stored, or are being stored."""
        with self.lock:
            begun = self.by_token.get(token)
            if begun is not None and begun.shown_at is None:
                begun.shown_at = at
        return begun is not None

    def settle(self, token: str) -> None:
        """Return when the trials of a session that began here are stored, with those of all others."""
        if token in self.by_token or self.writing.locked():
            self.store()

    def store(self) -> None:
        """Store all trials that wait; what cannot be stored now is written by whoever needs it next."""
        with self.writing:
            with self.lock:
                waiting, self.by_token = list(self.by_token.values()), {}
            if waiting:
                _store(waiting)

    def _store_in_background(self) -> None:
        try:
            self.store()
        except DatabaseError as problem:
            log.warning("trials of new sessions are stored later: %s", problem)
        finally:
            connection.close()


beginnings = Beginnings()


def _store(waiting: Sequence[Begun]) -> None:
    keys = padded([one.session.pk for one in waiting])
    with in_turn(), transaction.atomic():
        empty = {pk for (pk,) in _running(*keys)} - {pk for (pk,) in _written(*keys)}
        insert_rows(Trial, [row for one in waiting if one.session.pk in empty for row in one.rows])
    given = trials_of_sessions(keys)
    for one in waiting:
        remember(one.session, given.get(one.session.pk, []))


_running = Compiled(
    lambda *keys: (
        Session.objects.filter(pk__in=keys, status=Session.Status.ACTIVE)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )
)
_written = Compiled(
    lambda *keys: Trial.objects.filter(session__in=keys).order_by().values_list("session_id").distinct()
)
