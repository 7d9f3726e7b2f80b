"""The usual delivery: one answer to the next trial of a running session, stored by one statement.

What a session was given never changes (its trials, their sentences, its version), so this process keeps it
for a while. What may change is asked of the database by the statement that stores the answer: the lease runs
and is fresh, the participant is on this screen, every earlier trial is answered, this one and the next are
not. Where one of these fails nothing is written, and :mod:`judgments.sessions.deliver` takes over, which
stores the same.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.db import connection
from django.utils import timezone

from experiments.models import TrialKind
from judgments.models import Judgment, Session, Trial
from judgments.sessions.deliver import FRESH, Receipt
from judgments.sessions.incoming import Incoming
from judgments.sessions.lookup import GIVEN, given_trial, given_trials
from judgments.sessions.prepared import changed_rows
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.record import judgment_of, options_of, screen_after
from judgments.tasks.base import BadResponse

MOST_TRIALS = 20_000  # kept in one process: some 30 MB
KEPT_S = 900.0  # a study's lease may be changed meanwhile
PUBLIC_ID = GIVEN.index("public_id")
FIELDS = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
STATEMENT = """
INSERT INTO {judgment} ({columns}) SELECT {marks}
FROM {trial} t JOIN {session} s ON s.id = t.session_id
WHERE t.id = %s AND s.id = %s AND (t.shown_at IS NULL) = %s
  AND s.status = 'active' AND s.screen = %s AND s.lease_expires_at >= %s
  AND NOT EXISTS (SELECT 1 FROM {judgment} n WHERE n.trial_id = %s){earlier}
ON CONFLICT DO NOTHING"""
EARLIER = """
  AND NOT EXISTS (SELECT 1 FROM {trial} e WHERE e.session_id = s.id AND e.position > %s AND e.position < %s
    AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = e.id))"""


@dataclass
class Sitting:
    """What a session was given, and how far its answers are known to reach."""

    protocol: Protocol
    lease: timedelta
    trials: dict[str, tuple[Any, ...]]  # rows of given_trials, by public id
    ids: list[int]  # in the order of the session
    reach: int  # every trial up to this position is answered; more may be
    kept_at: float


class Sittings:
    """The sittings of the sessions that answered last."""

    def __init__(self, most_trials: int) -> None:
        self.most_trials, self.n_trials = most_trials, 0
        self.sittings: OrderedDict[str, Sitting] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, token: str) -> Sitting | None:
        """The sitting of a token, unless it was kept too long."""
        sitting = self.sittings.get(token)
        if sitting is None or time.monotonic() - sitting.kept_at > KEPT_S:
            return None
        return sitting

    def keep(self, token: str, sitting: Sitting) -> None:
        """Keep a sitting; the oldest go when there are too many trials."""
        with self.lock:
            self._drop(token)
            self.sittings[token] = sitting
            self.n_trials += len(sitting.trials)
            while self.n_trials > self.most_trials and len(self.sittings) > 1:
                self._drop(next(iter(self.sittings)))

    def _drop(self, token: str) -> None:
        dropped = self.sittings.pop(token, None)
        if dropped is not None:
            self.n_trials -= len(dropped.trials)


sittings = Sittings(MOST_TRIALS)


def remember(session: Session) -> None:
    """Keep what a session was given, for the answers to come."""
    if session.status != Session.Status.ACTIVE or sittings.get(session.token) is not None:
        return
    rows = given_trials(session)
    reach = next((number for number, row in enumerate(rows) if not row[-1]), len(rows))
    protocol, lease = protocol_of(session.version), timedelta(minutes=session.experiment.lease_minutes)
    by_id, ids = {row[PUBLIC_ID]: row for row in rows}, [row[0] for row in rows]
    sittings.keep(session.token, Sitting(protocol, lease, by_id, ids, reach, time.monotonic()))


def store_next(token: str, row: Incoming) -> Receipt | None:
    """Store the next answer; None where it is not that simple, and nothing was written."""
    sitting = sittings.get(token)
    kept = sitting.trials.get(row.trial) if sitting else None
    if sitting is None or kept is None or row.events:
        return None
    trial = given_trial(kept)
    if not _is_usual(trial, sitting):
        return None
    try:
        answer = sitting.protocol.task.parse(
            row.delivery.response, sitting.protocol.settings, options=options_of(trial)
        )
    except BadResponse:
        return None
    if not _insert(judgment_of(trial, answer, row.delivery, protocol=sitting.protocol), sitting):
        return None
    sitting.reach = max(sitting.reach, trial.position)
    return Receipt(acknowledged=[row.trial], position=trial.position)


def _is_usual(trial: Trial, sitting: Sitting) -> bool:
    """Practice has feedback, and the last answer may complete the session."""
    return trial.kind != TrialKind.PRACTICE and sitting.reach < trial.position < len(sitting.trials)


def _insert(judgment: Judgment, sitting: Sitting) -> bool:
    """Whether the statement found everything as it has to be, and stored the row."""
    trial = judgment.trial
    follows = sitting.reach == trial.position - 1
    values = [field.get_db_prep_save(getattr(judgment, field.attname), connection) for field in FIELDS]
    fresh_until = timezone.now() + sitting.lease - FRESH
    conditions = [
        trial.pk,
        trial.session_id,
        trial.shown_at is None,
        screen_after(trial),
        connection.ops.adapt_datetimefield_value(fresh_until),
        sitting.ids[trial.position],  # positions count from 1
        *(() if follows else (sitting.reach, trial.position)),
    ]
    return changed_rows(_statement(follows), [*values, *conditions]) == 1


@cache
def _statement(follows: bool) -> str:
    tables = {model.__name__.lower(): f'"{model._meta.db_table}"' for model in (Judgment, Trial, Session)}
    return STATEMENT.format(
        **tables,
        columns=", ".join(f'"{field.column}"' for field in FIELDS),
        marks=", ".join(["%s"] * len(FIELDS)),
        earlier="" if follows else EARLIER.format(**tables),
    )
