"""What a session was given: its trials as they are shown, without the weight of model instances.

A plan reads all of them and every answer one, so they are the rows read most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from judgments.models import Session
from judgments.sessions.columns import TABLES, document, flag, moment
from judgments.sessions.prepared import rows_of

GIVEN = [
    "id",
    "session_id",
    "position",
    "kind",
    "block",
    "public_id",
    "expected_first",
    "shown",
    "correct",
    "shown_at",
]
ALL_TRIALS = """
SELECT {columns}, p.good_id, p.bad_id, EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = t.id)
FROM {trial} t LEFT JOIN {minimalpair} p ON p.id = t.pair_id
WHERE t.session_id IN ({sessions}) ORDER BY t.session_id, t.position"""
COLUMNS = ", ".join(f"t.{name}" for name in GIVEN)


class Members(NamedTuple):
    """Sentences of a minimal pair, by key."""

    good_id: int
    bad_id: int


@dataclass(slots=True)
class GivenTrial:
    """One trial, read as :class:`~judgments.models.Trial` is, with the pair's members."""

    pk: int
    session_id: int
    position: int
    kind: str
    block: int
    public_id: str
    expected_first: bool | None
    shown: dict[str, Any]
    correct: dict[str, Any]
    shown_at: datetime | None
    pair: Members | None
    is_answered: bool


def given_trials(session: Session) -> list[GivenTrial]:
    """A session's trials in order."""
    return trials_of_sessions([session.pk]).get(session.pk, [])


def trials_of_sessions(keys: Sequence[int]) -> dict[int, list[GivenTrial]]:
    """The trials of sessions, each session's in order, by the session's key."""
    found: dict[int, list[GivenTrial]] = {}
    if keys:
        for row in rows_of(_sql(len(keys)), keys):
            trial = _read(row)
            found.setdefault(trial.session_id, []).append(trial)
    return found


@lru_cache(maxsize=64)
def _sql(n: int) -> str:
    return ALL_TRIALS.format(**TABLES, columns=COLUMNS, sessions=", ".join(["%s"] * n))


def _read(row: tuple[Any, ...]) -> GivenTrial:
    key, session, position, kind, block, public_id, expected, shown, correct, at, good, bad, answered = row
    return GivenTrial(
        key,
        session,
        position,
        kind,
        block,
        public_id,
        flag(expected),
        document(shown),
        document(correct),
        moment(at),
        Members(good, bad) if good is not None else None,
        bool(answered),
    )
