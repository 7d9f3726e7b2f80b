"""Sessions that just began: this process knows their trials at once and stores them a moment later.

Between consent and the first trial somebody waits, and storing the trials would be half of the wait. So the
web server stores those of all who arrived in the last moment together: when the moment is over, or when the
first of them answers. Trials follow from the session's list and token, so a server that is killed in between
loses nothing: :func:`~judgments.sessions.prepare.prepare_trials` writes the same ones for whoever needs them.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from secrets import token_hex
from typing import Any, TypeVar

from django.db import DatabaseError, connection, transaction

from judgments.models import Session, Trial
from judgments.sessions.compiled import Compiled, insert_rows, padded
from judgments.sessions.given import GivenTrial, Members, trials_of_sessions
from judgments.sessions.prepare import kind_of_turn, n_ids, pairs_of, trials_of, turn_of, write_trials
from judgments.sessions.sittings import remember, sittings
from judgments.sessions.turns import in_turn

MOMENT_S = 0.5
MOVED = ("status", "screen", "last_seen_at")  # one of them changes with whatever a participant does
log = logging.getLogger(__name__)
T = TypeVar("T")


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

    def is_in(self, stored: Mapping[str, int]) -> bool:
        """Whether each of its trials was stored, by public id."""
        return all(row["public_id"] in stored for row in self.rows)

    def given(self, stored: Mapping[str, int]) -> list[GivenTrial]:
        """The trials as they were stored, with their keys."""
        session = self.session
        rows = zip(self.rows, pairs_of(session), strict=True)
        return [_given(row, pk=stored[row["public_id"]], session=session.pk, pair=pair) for row, pair in rows]

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


def _given(row: dict[str, Any], *, pk: int = 0, session: int = 0, pair: Members | None = None) -> GivenTrial:
    """A row as it will be read, nothing answered yet; whose it is and its pair may be left open."""
    shared = {name: row[name] for name in SHARED}
    at = row.get("shown_at")
    return GivenTrial(pk=pk, session_id=session, pair=pair, is_answered=False, shown_at=at, **shared)


def nothing() -> None:
    """Do nothing once the trials are stored."""


class Beginnings:
    """What began in this process and is not stored yet, by the session's token."""

    def __init__(self) -> None:
        self.waits = False  # only a server that lives on may store later
        self.by_token: dict[str, Begun] = {}
        self.is_timed = False  # a moment runs, at whose end all are stored
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
            is_timed, self.is_timed = self.is_timed, True
            self.by_token[begun.session.token] = begun
        if not is_timed:
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

    def settle(self, token: str, then: Callable[[], T | None] = nothing) -> T | None:
        """Store the trials of a session that began here, with those of all others; give what ``then`` does.

        ``then`` follows in the same transaction where there are trials to store, and by itself otherwise.
        """
        if token in self.by_token or self.writing.locked():
            with self.writing:
                waiting = self._taken()
                if waiting:
                    return _store(waiting, then)
        return then()

    def store(self) -> None:
        """Store all trials that wait; what cannot be stored now is written by whoever needs it next."""
        with self.writing:
            if waiting := self._taken():
                _store(waiting)

    def _taken(self) -> list[Begun]:
        with self.lock:
            waiting, self.by_token = list(self.by_token.values()), {}
        return waiting

    def _store_in_background(self) -> None:
        with self.lock:
            self.is_timed = False
        if not self.by_token:
            return
        try:
            self.store()
        except DatabaseError as problem:
            log.warning("trials of new sessions are stored later: %s", problem)
        finally:
            connection.close()


beginnings = Beginnings()


def _store(waiting: Sequence[Begun], then: Callable[[], T | None] = nothing) -> T | None:
    """Store their trials, and whatever ``then`` stores, or nothing of it."""
    try:
        with in_turn(), transaction.atomic():
            _write(waiting)
            return then()
    except BaseException:
        for one in waiting:  # what is remembered of them is not stored
            sittings.forget(one.session.token)
        raise


def _write(waiting: Sequence[Begun]) -> None:
    keys = padded([one.session.pk for one in waiting])
    running = {pk for (pk,) in _running(*keys)}
    rows = [row for one in waiting if one.session.pk in running for row in one.rows]
    stored = insert_rows(Trial, rows, known_by="public_id")
    others = _stored_before([one.session for one in waiting if not one.is_in(stored)])
    for one in waiting:
        is_other = one.session.pk in others
        remember(one.session, others[one.session.pk] if is_other else one.given(stored))


def _stored_before(sessions: Sequence[Session]) -> dict[int, list[GivenTrial]]:
    """The trials of sessions for which another process was first, or which ended; empty for these."""
    if not sessions:
        return {}
    keys = [session.pk for session in sessions]
    return dict.fromkeys(keys, []) | trials_of_sessions(padded(keys))


_running = Compiled(
    lambda *keys: (
        Session.objects.filter(pk__in=keys, status=Session.Status.ACTIVE)
        .order_by("pk")
        .select_for_update(no_key=True)
        .values_list("pk")
    )
)
